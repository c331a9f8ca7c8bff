import type { QueueName, QueuePayloads } from '@gatehouse/contracts';
import { Inject } from '@nestjs/common';
import type { AddAndWaitOptions, AddOptions, JobStatus, SchedulerOptions } from './job-types.js';
import type { Jobs } from './jobs.service.js';

/** One queue, for classes that need no other. */
export class JobQueue<Name extends QueueName = QueueName> {
  constructor(
    private readonly jobs: Jobs,
    readonly name: Name,
  ) {}

  add(payload: QueuePayloads[Name], options?: AddOptions): Promise<string> {
    return this.jobs.add(this.name, payload, options);
  }

  addAndWait<Result = unknown>(payload: QueuePayloads[Name], options: AddAndWaitOptions): Promise<Result> {
    return this.jobs.addAndWait<Result, Name>(this.name, payload, options);
  }

  upsertScheduler(key: string, options: SchedulerOptions, payload: QueuePayloads[Name]): Promise<void> {
    return this.jobs.upsertScheduler(this.name, key, options, payload);
  }

  removeScheduler(key: string): Promise<boolean> {
    return this.jobs.removeScheduler(this.name, key);
  }

  status(jobId: string): Promise<JobStatus | undefined> {
    return this.jobs.status(this.name, jobId);
  }
}

export function queueToken(name: QueueName): string {
  return `job queue ${name}`;
}

/** Injects the `JobQueue` of a queue. */
export function InjectQueue(name: QueueName): ParameterDecorator & PropertyDecorator {
  return Inject(queueToken(name));
}
