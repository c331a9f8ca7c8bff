import type { QueueName, QueuePayloads } from '@gatehouse/contracts';
import type { RedisOptions } from '@gatehouse/platform';
import type { JobFailure } from './job-errors.js';

/** Progress of a job; any JSON that the handler reports. */
export type JobProgress = number | Record<string, unknown>;

/** What a handler gets besides its payload. */
export interface JobContext {
  readonly id: string;
  readonly queue: QueueName;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly attempts: number;
  /**
   * Aborted when the process shuts down and its patience has ended: the handler should stop, and the job will be
   * retried.
   */
  readonly signal: AbortSignal;
  /** Reports progress; readable through `Jobs.status()`. */
  progress(value: JobProgress): Promise<void>;
}

/** A class that `@JobHandler(name)` decorates. Handlers are idempotent: a job may run twice after a crash. */
export interface HandlesJobs<Name extends QueueName = QueueName> {
  handle(payload: QueuePayloads[Name], job: JobContext): Promise<unknown>;
}

export interface AddOptions {
  /**
   * Identifies the piece of work: while a job with this id waits or runs, adding again joins it; a finished one is
   * replaced.
   * No colon, and not a number.
   */
  jobId?: string;
  /** Milliseconds to wait before the first attempt. */
  delay?: number;
  /** Total attempts, with exponential backoff from one second. Default 3; for `addAndWait` 1. */
  attempts?: number;
}

export interface AddAndWaitOptions extends AddOptions {
  timeoutMs: number;
}

export interface SchedulerOptions {
  everyMs: number;
  /** The first run is delayed by a random part of this, and later runs keep that phase. */
  jitterMs?: number;
  /** Milliseconds until the first run, before jitter. Default 0. */
  firstInMs?: number;
}

export type JobState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed';

export interface JobStatus {
  id: string;
  queue: QueueName;
  state: JobState;
  progress: JobProgress | undefined;
  result: unknown;
  failure: JobFailure | undefined;
  attemptsMade: number;
  createdAt: Date;
  startedAt: Date | undefined;
  finishedAt: Date | undefined;
}

/** A job that has not ended, with its payload. */
export interface UnfinishedJob<Name extends QueueName = QueueName> {
  id: string;
  payload: QueuePayloads[Name];
}

/** Jobs of one queue by state; paused and prioritized ones count as waiting, so both backends mean the same. */
export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  completed: number;
  failed: number;
}

/** Where this process runs jobs: here beside the API, elsewhere, or only here. */
export type WorkersMode = 'inline' | 'separate' | 'only';

export interface JobsConfig {
  databaseUrl: string;
  /** When set, queues live in Redis instead of the database. */
  redisUrl?: string | undefined;
  /** Connection options for Redis, besides its URL. */
  redisOptions?: RedisOptions;
  workers: WorkersMode;
  /** False: refuse to boot when BullMQ's own schema is not migrated. Default true. */
  autoMigrate?: boolean;
  /** Milliseconds that running jobs get to finish at shutdown. Default 3000. */
  drainMs?: number;
  /** Milliseconds between two checks of the schedules. Default 60,000. */
  scheduleLookMs?: number;
}
