import type { QueueName, QueuePayloads } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import type { EntityManager } from 'typeorm';
import { decodeFailure, JobsUnavailableError } from './job-errors.js';
import type {
  AddAndWaitOptions,
  AddOptions,
  JobProgress,
  JobState,
  JobStatus,
  QueueCounts,
  SchedulerOptions,
  UnfinishedJob,
} from './job-types.js';
import { traceSend } from './job-traces.js';
import { JobWaiter } from './job-waiter.js';
import { JobOutbox } from './outbox.js';
import type { StoredSchedule } from './kept-schedules.js';
import { QueueRegistry } from './queue-registry.js';
import { within } from './within.js';

/** A store that does not answer must not block the request that wants to queue something. */
const STORE_TIMEOUT_MS = 10_000;

/** Queues jobs and reads their state. Payloads and names are those of `contracts/queues.ts`. */
@Injectable()
export class Jobs {
  constructor(
    private readonly registry: QueueRegistry,
    private readonly waiter: JobWaiter,
    private readonly outbox: JobOutbox,
  ) {}

  /** Queues a job and returns its id; an unfinished job of the same `jobId` is joined instead. */
  async add<Name extends QueueName>(
    name: Name,
    payload: QueuePayloads[Name],
    options: AddOptions = {},
  ): Promise<string> {
    return this.answered(this.addJob(name, payload, options));
  }

  /** Queues or joins a job and waits for its result. @throws JobFailedError or JobTimeoutError. */
  async addAndWait<Result = unknown, Name extends QueueName = QueueName>(
    name: Name,
    payload: QueuePayloads[Name],
    { timeoutMs, ...options }: AddAndWaitOptions,
  ): Promise<Result> {
    const id = await this.add(name, payload, { attempts: 1, ...options });
    return (await this.waiter.result(name, id, timeoutMs)) as Result;
  }

  /** Waits for a job that was already queued. @throws JobFailedError or JobTimeoutError. */
  async waitFor<Result = unknown>(name: QueueName, jobId: string, timeoutMs: number): Promise<Result> {
    return (await this.waiter.result(name, jobId, timeoutMs)) as Result;
  }

  /** Queues a job when the unit of work of `tx` has been committed, even if this process dies right afterwards. */
  async enqueueAfterCommit<Name extends QueueName>(
    tx: EntityManager,
    name: Name,
    payload: QueuePayloads[Name],
    options: AddOptions = {},
  ): Promise<void> {
    checkJobId(options.jobId);
    this.registry.queue(name);
    await this.outbox.store(tx, { queue: name, payload, options });
  }

  /** Runs a job repeatedly; an existing scheduler with that key keeps the time of its next run. */
  async upsertScheduler<Name extends QueueName>(
    name: Name,
    key: string,
    { everyMs, jitterMs = 0, firstInMs = 0 }: SchedulerOptions,
    payload: QueuePayloads[Name],
  ): Promise<void> {
    checkSchedulerKey(key);
    const startDate = Date.now() + firstInMs + Math.floor(Math.random() * jitterMs);
    const template = { name, data: payload };
    const upserted = this.registry.queue(name).upsertJobScheduler(key, { every: everyMs, startDate }, template);
    await this.answered(upserted);
  }

  /** Whether such a scheduler existed. A running job of it continues. */
  removeScheduler(name: QueueName, key: string): Promise<boolean> {
    return this.answered(this.registry.queue(name).removeJobScheduler(key));
  }

  /** Keys of a queue's schedulers, to compare with the wanted ones; at most `limit`. */
  async schedulers(name: QueueName, limit = 10_000): Promise<string[]> {
    return (await this.storedSchedules(name, limit)).map(({ key }) => key);
  }

  /** A queue's schedulers with their times, the first due first; at most `limit`. */
  async storedSchedules(name: QueueName, limit = 10_000): Promise<StoredSchedule[]> {
    const found = await this.answered(this.registry.queue(name).getJobSchedulers(0, limit - 1, true));
    return found.map(({ key, every, next }) => ({ key, everyMs: every ?? 0, next: next ?? 0 }));
  }

  /** The queues of this service. */
  get queues(): readonly QueueName[] {
    return this.registry.names;
  }

  /**
   * Jobs that run or wait for a worker, with their payloads, without delayed ones such as the next run of a scheduler.
   * At most `limit`.
   */
  async unfinished<Name extends QueueName>(name: Name, limit = 100): Promise<UnfinishedJob<Name>[]> {
    // The lists are read one after another. In the order in which jobs move through them, a job that is taken in the
    // meantime is seen twice at worst, and never missed.
    const jobs = await this.answered(this.registry.queue(name).getJobs(['prioritized', 'waiting', 'active'], 0, limit));
    // A job that ends while the lists are read may come without its content.
    return jobs.flatMap((job: Job | undefined) =>
      job?.id === undefined ? [] : [{ id: job.id, payload: job.data as QueuePayloads[Name] }],
    );
  }

  /** The state of a job, or undefined if it never existed or was cleared away. */
  async status(name: QueueName, jobId: string): Promise<JobStatus | undefined> {
    const queue = this.registry.queue(name);
    // The state first: a job that is read after it ended has its result.
    const state = await this.answered(queue.getJobState(jobId));
    const job = await this.answered(queue.getJob(jobId));
    if (job?.id === undefined || state === 'unknown') return undefined;
    return {
      id: job.id,
      queue: name,
      state: stateOf(state),
      progress: job.progress === 0 ? undefined : (job.progress as JobProgress),
      result: state === 'completed' ? (job.returnvalue as unknown) : undefined,
      failure: state !== 'completed' && job.failedReason ? decodeFailure(job.failedReason) : undefined,
      attemptsMade: job.attemptsMade,
      createdAt: new Date(job.timestamp),
      startedAt: toDate(job.processedOn),
      finishedAt: toDate(job.finishedOn),
    };
  }

  /** Jobs by queue and state; of all queues of this service unless some are named. */
  async counts(names = this.registry.names): Promise<Partial<Record<QueueName, QueueCounts>>> {
    const entries = names.map(async (name) => {
      const counts = await this.registry.queue(name).getJobCounts();
      const of = (state: string): number => counts[state] ?? 0;
      const waiting = of('waiting') + of('wait') + of('paused') + of('prioritized');
      const rest = { active: of('active'), delayed: of('delayed'), completed: of('completed'), failed: of('failed') };
      return [name, { waiting, ...rest }] as const;
    });
    return Object.fromEntries(await this.answered(Promise.all(entries))) as Partial<Record<QueueName, QueueCounts>>;
  }

  /** Resolves when the queues' store answers: for readiness checks. */
  async ping(): Promise<void> {
    await this.answered(this.registry.store.ping());
  }

  private async addJob(name: QueueName, payload: object, options: AddOptions): Promise<string> {
    checkJobId(options.jobId);
    if (options.jobId !== undefined) await this.registry.clearFinished(name, options.jobId);
    return await traceSend(name, async (trace) => {
      const { id } = await this.registry.queue(name).add(name, payload, { ...options, ...trace });
      if (id === undefined)
        throw new JobsUnavailableError(`The queue ${name} gave the job no id.`, `队列 ${name} 没有给任务分配 ID。`);
      return id;
    });
  }

  private answered<T>(call: Promise<T>): Promise<T> {
    return within(
      call,
      STORE_TIMEOUT_MS,
      () => new JobsUnavailableError('The job queues do not answer.', '任务队列没有响应。'),
    );
  }
}

function checkJobId(jobId: string | undefined): void {
  if (jobId === undefined || (/^[^:]+$/.test(jobId) && !/^\d+$/.test(jobId))) return;
  throw new TypeError(`A jobId holds no colon and is not a number: "${jobId}".`);
}

function checkSchedulerKey(key: string): void {
  if (!/^[\w.-]+$/.test(key))
    throw new TypeError(`A scheduler key is made of letters, digits, ".", "_" and "-": "${key}".`);
}

function stateOf(state: string): JobState {
  if (state === 'active' || state === 'completed' || state === 'failed' || state === 'delayed') return state;
  return 'waiting';
}

function toDate(milliseconds: number | undefined): Date | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds);
}
