import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { AccountingService } from './accounting.service.js';
import { FlowTraces } from './flow-traces.js';
import { NodeDirectory } from './node-directory.js';
import { TrafficLogsController } from './traffic-logs.controller.js';
import { TrafficLogsService } from './traffic-logs.service.js';
import { TrafficTotalsService } from './traffic-totals.service.js';

@Module({
  imports: [KernelModule],
  controllers: [TrafficLogsController],
  providers: [AccountingService, FlowTraces, NodeDirectory, TrafficLogsService, TrafficTotalsService],
  exports: [AccountingService, NodeDirectory, TrafficTotalsService],
})
export class TrafficModule {}
