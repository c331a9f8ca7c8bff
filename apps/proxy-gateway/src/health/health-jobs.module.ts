import { Module } from '@nestjs/common';
import { KernelConfigModule } from '../kernel-host/kernel-config.module.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { GroupTestTargetsModule } from '../outbound/group-test-targets.module.js';
import { HealthSchedule } from './health-schedule.js';
import { MeasurementStore } from './measurement.store.js';
import { NodeTester } from './node-tester.js';
import { ProbeTargets } from './probe-targets.js';
import { RunSpeedTest } from './run-speed-test.js';
import { SpeedTestHandler } from './speed-test.handler.js';

/** Measuring nodes, wherever the workers run. */
@Module({
  imports: [KernelConfigModule, NodeStorageModule, GroupTestTargetsModule],
  providers: [SpeedTestHandler, RunSpeedTest, ProbeTargets, NodeTester, MeasurementStore, HealthSchedule],
  exports: [ProbeTargets, NodeTester, MeasurementStore],
})
export class HealthJobsModule {}
