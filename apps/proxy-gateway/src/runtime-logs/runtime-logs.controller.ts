import { Requires } from '@gatehouse/auth';
import { Answers, AnswersEvents, Fails } from '@gatehouse/platform';
import type { RuntimeLogPage } from '@gatehouse/contracts';
import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { RuntimeLogFilter, RuntimeLogQuery } from './runtime-log.dto.js';
import { RuntimeLogStream } from './runtime-log-stream.js';
import { RuntimeLogsService } from './runtime-logs.service.js';

@Controller('logs')
@Requires('read')
export class RuntimeLogsController {
  constructor(
    private readonly logs: RuntimeLogsService,
    private readonly stream: RuntimeLogStream,
  ) {}

  @Get()
  @Answers('RuntimeLogPage', 'Runtime logs of all processes, newest first')
  list(@Query() query: RuntimeLogQuery): Promise<RuntimeLogPage> {
    return this.logs.list(query);
  }

  /** Server-sent events; a client that reconnects sends the id of its last line. */
  @Get('stream')
  @AnswersEvents('Follows the runtime logs: each line is an event')
  @Fails('SERVICE_UNAVAILABLE')
  follow(
    @Query() filter: RuntimeLogFilter,
    @Res() response: Response,
    @Headers('last-event-id') lastId?: string,
  ): Promise<void> {
    const after = lastId !== undefined && /^\d{1,15}$/.test(lastId) ? Number(lastId) : undefined;
    return this.stream.send(filter, after, response);
  }
}
