import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { TrafficModule } from '../traffic/traffic.module.js';
import { DashboardController } from './dashboard.controller.js';
import { DashboardService } from './dashboard.service.js';
import { Inventory } from './inventory.js';
import { LiveTraffic } from './live-traffic.js';
import { PeriodLists } from './period-lists.js';

@Module({
  imports: [KernelModule, TrafficModule],
  controllers: [DashboardController],
  providers: [DashboardService, Inventory, LiveTraffic, PeriodLists],
})
export class DashboardModule {}
