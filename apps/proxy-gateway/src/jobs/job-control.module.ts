import { Global, Module } from '@nestjs/common';
import { JobCancellations } from './job-cancellations.js';
import { JobResults } from './job-results.js';

/** Shared by job handlers and the API. */
@Global()
@Module({ providers: [JobCancellations, JobResults], exports: [JobCancellations, JobResults] })
export class JobControlModule {}
