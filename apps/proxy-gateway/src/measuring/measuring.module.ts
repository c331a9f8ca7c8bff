import { Module } from '@nestjs/common';
import { KernelConfigModule } from '../kernel-config/kernel-config.module.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { MeasurementStore } from './measurement.store.js';
import { NodeTester } from './node-tester.js';
import { ProbeTargets } from './probe-targets.js';

/** What measuring takes, one tester a process: it keeps a node from being measured twice at a time. */
@Module({
  imports: [KernelConfigModule, NodeStorageModule],
  providers: [ProbeTargets, NodeTester, MeasurementStore],
  exports: [ProbeTargets, NodeTester, MeasurementStore],
})
export class MeasuringModule {}
