import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { JobView } from '@gatehouse/contracts';
import { Answers, AnswersEvents, Fails } from '@gatehouse/platform';
import { Controller, Delete, Get, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { QueryInteger } from '../wire/query-integer.js';
import { JobEventStream } from './job-event-stream.js';
import { JobsService } from './jobs.service.js';

/** The page of a long result. */
export class JobQuery {
  @QueryInteger({ min: 1, max: 500 })
  limit = 50;

  @QueryInteger({ min: 0, max: 1_000_000_000 })
  offset = 0;
}

@Controller('jobs')
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly events: JobEventStream,
  ) {}

  @Get(':id')
  @Answers('JobView', 'The state and progress of a job')
  @Requires('read')
  get(@Param('id') id: string, @Query() page: JobQuery, @CurrentActor() actor: Actor | null): Promise<JobView> {
    return this.jobs.get(id, actor, page);
  }

  @Get(':id/events')
  @AnswersEvents('Follows a job: `progress` events and a final `end` event, each with the job as data')
  @Fails('SERVICE_UNAVAILABLE')
  @Requires('read')
  follow(@Param('id') id: string, @Res() response: Response): Promise<void> {
    return this.events.send(id, response);
  }

  @Delete(':id')
  @Answers('JobView', 'Cancels a job')
  @Fails('CONFLICT')
  @Requires('write')
  cancel(@Param('id') id: string): Promise<JobView> {
    return this.jobs.cancel(id);
  }
}
