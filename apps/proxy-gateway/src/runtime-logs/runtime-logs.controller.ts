import { Requires } from '@gatehouse/auth';
import type { RuntimeLogPage } from '@gatehouse/contracts';
import { Controller, Get, Query } from '@nestjs/common';
import { RuntimeLogQuery } from './runtime-log.dto.js';
import { RuntimeLogsService } from './runtime-logs.service.js';

@Controller('logs')
export class RuntimeLogsController {
  constructor(private readonly logs: RuntimeLogsService) {}

  @Get()
  @Requires('read')
  list(@Query() query: RuntimeLogQuery): Promise<RuntimeLogPage> {
    return this.logs.list(query);
  }
}
