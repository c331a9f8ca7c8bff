import { Module } from '@nestjs/common';
import { EventsApiModule } from '../events/events-api.module.js';
import { IpRulesModule } from '../ip-rules/ip-rules.module.js';
import { TrafficModule } from '../traffic/traffic.module.js';
import { WarningsModule } from '../warnings/warnings.module.js';
import { Attention } from './attention.js';
import { CarriedTraffic } from './carried-traffic.js';
import { DashboardController } from './dashboard.controller.js';
import { DashboardService } from './dashboard.service.js';
import { LiveTraffic } from './live-traffic.js';
import { PresenceReader } from './presence.js';
import { Totals } from './totals.js';

@Module({
  imports: [EventsApiModule, IpRulesModule, TrafficModule, WarningsModule],
  controllers: [DashboardController],
  providers: [DashboardService, Attention, CarriedTraffic, LiveTraffic, PresenceReader, Totals],
})
export class DashboardModule {}
