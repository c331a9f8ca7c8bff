import { Global, Module } from '@nestjs/common';
import { JobCancellations } from './job-cancellations.js';
import { JobResults } from './job-results.js';

/** What job handlers and the API share about jobs. */
@Global()
@Module({ providers: [JobCancellations, JobResults], exports: [JobCancellations, JobResults] })
export class JobControlModule {}
