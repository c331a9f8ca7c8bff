import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { FlowSeries, FlowStatPage } from '@gatehouse/contracts';
import { Answers, Fails } from '@gatehouse/platform';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { FlowStatQuery, SeriesQuery } from './traffic.dto.js';
import { TrafficService } from './traffic.service.js';

@ApiTags('flow-stats')
@Controller('flow-stats')
export class FlowStatsController {
  constructor(private readonly traffic: TrafficService) {}

  @Get()
  @Answers('FlowStatPage', 'Lists traffic totals')
  list(@Query() query: FlowStatQuery, @CurrentActor() actor: Actor): Promise<FlowStatPage> {
    return this.traffic.flowStats(query, actor);
  }

  @Get('series')
  @Answers('FlowSeries', 'Returns traffic by minute, hour or day')
  @Fails('NOT_FOUND')
  series(@Query() query: SeriesQuery, @CurrentActor() actor: Actor): Promise<FlowSeries> {
    return this.traffic.flowSeries(query, actor);
  }
}
