import { Module } from '@nestjs/common';
import { CountryJobsModule } from '../countries/country-jobs.module.js';
import { GroupTestTargetsModule } from '../outbound/group-test-targets.module.js';
import { HealthSchedule } from './health-schedule.js';
import { MeasuringModule } from '../measuring/measuring.module.js';
import { RunSpeedTest } from './run-speed-test.js';
import { SpeedTestHandler } from './speed-test.handler.js';

/** The tests of nodes, for processes that run workers. */
@Module({
  imports: [MeasuringModule, GroupTestTargetsModule, CountryJobsModule],
  providers: [SpeedTestHandler, RunSpeedTest, HealthSchedule],
})
export class HealthJobsModule {}
