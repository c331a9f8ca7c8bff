import { Module } from '@nestjs/common';
import { FlowStatsController } from './flow-stats.controller.js';
import { SeriesReader } from './flow-series.js';
import { RequestIpsController } from './request-ips.controller.js';
import { TrafficService } from './traffic.service.js';

@Module({
  controllers: [FlowStatsController, RequestIpsController],
  providers: [TrafficService, SeriesReader],
  exports: [SeriesReader],
})
export class TrafficModule {}
