import { Requires } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
import type { TrafficLogListResponse } from '@gatehouse/contracts';
import { Controller, Get, Query } from '@nestjs/common';
import { TrafficLogQuery } from './traffic-log.dto.js';
import { TrafficLogsService } from './traffic-logs.service.js';

@Controller('traffic-logs')
export class TrafficLogsController {
  constructor(private readonly trafficLogs: TrafficLogsService) {}

  @Get()
  @Answers('TrafficLogListResponse', 'Finished connections, newest first')
  @Fails('SERVICE_UNAVAILABLE')
  @Requires('read')
  list(@Query() query: TrafficLogQuery): Promise<TrafficLogListResponse> {
    return this.trafficLogs.list(query);
  }
}
