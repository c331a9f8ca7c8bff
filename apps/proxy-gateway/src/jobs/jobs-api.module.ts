import { Module } from '@nestjs/common';
import { JobEventStream } from './job-event-stream.js';
import { JobWatch } from './job-watch.js';
import { JobsController } from './jobs.controller.js';
import { JobsService } from './jobs.service.js';

@Module({
  controllers: [JobsController],
  providers: [JobsService, JobWatch, JobEventStream],
  exports: [JobsService],
})
export class JobsApiModule {}
