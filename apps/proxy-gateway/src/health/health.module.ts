import { Module } from '@nestjs/common';
import { JobsApiModule } from '../jobs/jobs-api.module.js';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { KernelHealthFeed } from './kernel-health-feed.js';
import { MeasuringModule } from '../measuring/measuring.module.js';
import { SpeedTestResultsReader } from './speed-test-results.js';
import { SpeedTestsController } from './speed-tests.controller.js';
import { SpeedTestsService } from './speed-tests.service.js';
import { TestNodeService } from './test-node.service.js';

/** Tests started through the API, and the feed of all results to the kernel. */
@Module({
  imports: [MeasuringModule, JobsApiModule, KernelModule],
  controllers: [SpeedTestsController],
  providers: [SpeedTestsService, SpeedTestResultsReader, TestNodeService, KernelHealthFeed],
})
export class NodeHealthModule {}
