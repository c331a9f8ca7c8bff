import { Module } from '@nestjs/common';
import { MeasuringModule } from '../measuring/measuring.module.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { CountryDetectionHandler } from './country-detection.handler.js';
import { CountryStore } from './country.store.js';
import { DetectAfterTest } from './detect-after-test.js';
import { DetectCountries } from './detect-countries.js';
import { ExitProbe } from './exit-probe.js';

/** The detection of countries, for processes that run workers. */
@Module({
  imports: [MeasuringModule, NodeStorageModule],
  providers: [CountryDetectionHandler, DetectCountries, DetectAfterTest, CountryStore, ExitProbe],
  exports: [DetectAfterTest],
})
export class CountryJobsModule {}
