import type { QueueName } from '@gatehouse/contracts';
import type { Schedule, ScheduleStore, StoredSchedule } from './kept-schedules.js';
import type { Jobs } from './jobs.service.js';
import type { QueueRegistry } from './queue-registry.js';

/** States of a job that has ended; `unknown` means that it does not exist. */
const OVER = new Set(['completed', 'failed', 'unknown']);

/** The schedules in the queues' store, PostgreSQL or Redis. */
export class StoredSchedules implements ScheduleStore {
  constructor(
    private readonly jobs: Jobs,
    private readonly registry: QueueRegistry,
  ) {}

  list(queue: QueueName): Promise<StoredSchedule[]> {
    return this.jobs.storedSchedules(queue);
  }

  put(queue: QueueName, { key, payload, ...times }: Schedule): Promise<void> {
    return this.jobs.upsertScheduler(queue, key, times, payload);
  }

  async remove(queue: QueueName, key: string): Promise<void> {
    await this.jobs.removeScheduler(queue, key);
  }

  async isBusy(queue: QueueName): Promise<boolean> {
    return ((await this.jobs.counts([queue]))[queue]?.active ?? 0) > 0;
  }

  async hasNextJob(queue: QueueName, { key, next }: StoredSchedule): Promise<boolean> {
    // BullMQ names the job of a scheduler's next run in this way.
    return !OVER.has(await this.registry.queue(queue).getJobState(`repeat:${key}:${next}`));
  }
}
