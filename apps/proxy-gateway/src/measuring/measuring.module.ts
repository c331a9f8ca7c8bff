import { Module } from '@nestjs/common';
import { KernelConfigModule } from '../kernel-config/kernel-config.module.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { KernelProbe } from './kernel-probe.js';
import { MeasurementStore } from './measurement.store.js';
import { NodeTester } from './node-tester.js';
import { ProbeTargets } from './probe-targets.js';

/**
 * The parts needed for measuring. There is one tester in each process, so that a node is not measured twice at the same
 * time.
 */
@Module({
  imports: [KernelConfigModule, NodeStorageModule],
  providers: [KernelProbe, ProbeTargets, NodeTester, MeasurementStore],
  exports: [ProbeTargets, NodeTester, MeasurementStore],
})
export class MeasuringModule {}
