import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { RequestIpPage } from '@gatehouse/contracts';
import { Answers } from '@gatehouse/platform';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RequestIpQuery } from './traffic.dto.js';
import { TrafficService } from './traffic.service.js';

@ApiTags('request-ips')
@Controller('request-ips')
export class RequestIpsController {
  constructor(private readonly traffic: TrafficService) {}

  @Get()
  @Answers('RequestIpPage', 'Lists addresses of visitors')
  list(@Query() query: RequestIpQuery, @CurrentActor() actor: Actor): Promise<RequestIpPage> {
    return this.traffic.requestIps(query, actor);
  }
}
