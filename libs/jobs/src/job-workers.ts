import type { QueueName } from '@gatehouse/contracts';
import { UnrecoverableError, Worker, type Job } from 'bullmq';
import { setTimeout as delay } from 'node:timers/promises';
import type { RegisteredHandler } from './handler-registry.js';
import { encodeFailure, PermanentJobError } from './job-errors.js';
import { traceJob } from './job-traces.js';
import type { JobContext } from './job-types.js';
import type { QueueRegistry } from './queue-registry.js';

/** A job whose process died is taken over after at most this plus the interval between two checks. */
const LOCK_MS = 15_000;
const STALLED_LOOK_MS = 10_000;
/** New jobs are announced; a worker without any checks this often, in case an announcement was lost. */
const IDLE_LOOK_S = 15;
const ABORT_PATIENCE_MS = 1_000;

/** `retried`: the attempt failed, and another follows. */
export type JobResult = 'completed' | 'retried' | 'failed';

/** Called when a handler has ended. */
export type JobEnded = (queue: QueueName, result: JobResult, seconds: number) => void;

export interface WorkerLog {
  jobEnded: JobEnded;
  jobFailed(queue: QueueName, jobId: string, error: unknown): void;
  workerError(queue: QueueName, error: Error): void;
}

/** The workers of this process, one for each handler. */
export class JobWorkers {
  private readonly workers: Worker[] = [];
  private readonly handled: RegisteredHandler[] = [];
  /** Jobs that are running here, by queue. */
  private readonly busy = new Map<QueueName, number>();
  private readonly aborting = new AbortController();

  constructor(
    private readonly registry: QueueRegistry,
    private readonly log: WorkerLog,
  ) {}

  async start(handlers: readonly RegisteredHandler[]): Promise<void> {
    for (const handler of handlers) this.workers.push(this.createWorker(handler));
    this.handled.push(...handlers);
    await Promise.all(this.workers.map((worker) => worker.waitUntilReady()));
  }

  /**
   * Starts no more jobs and waits for the running ones; after `drainMs` their signal is aborted, and one second later
   * they are abandoned, to be retried by another process.
   */
  async drain(drainMs: number): Promise<void> {
    const { workers } = this;
    if (workers.length === 0) return;
    const patience = new AbortController();
    // close() waits for the running jobs; the workers start no others from now on.
    const closed = Promise.allSettled(workers.map((worker) => worker.close()));
    const pause = (ms: number): Promise<unknown> =>
      delay(ms, 'late', { signal: patience.signal }).catch(() => undefined);
    if ((await Promise.race([closed, pause(drainMs)])) === 'late') {
      this.aborting.abort(new Error('The service is shutting down.'));
      await Promise.race([closed, pause(ABORT_PATIENCE_MS)]);
    }
    patience.abort();
  }

  /** Queues whose worker has ended, and those whose worker is free. */
  idle(): { stopped: QueueName[]; free: QueueName[] } {
    const stopped: QueueName[] = [];
    const free: QueueName[] = [];
    for (const [index, { queue, concurrency }] of this.handled.entries()) {
      if (this.workers[index]?.isRunning() !== true) stopped.push(queue);
      else if ((this.busy.get(queue) ?? 0) < concurrency) free.push(queue);
    }
    return { stopped, free };
  }

  private createWorker(registered: RegisteredHandler): Worker {
    const { queue, concurrency } = registered;
    const { store } = this.registry;
    const worker = new Worker(
      this.registry.storedName(queue),
      (job: Job) => traceJob(queue, job, () => this.process(registered, job)),
      {
        connection: store.connection,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_LOOK_MS,
        drainDelay: IDLE_LOOK_S,
        // A crash of the process is not the job's fault, but a job that crashes it again and again has to end.
        maxStalledCount: 3,
      },
      store.factory,
    ) as unknown as Worker;
    worker.on('error', (error) => this.log.workerError(queue, error));
    return worker;
  }

  private async process(registered: RegisteredHandler, job: Job): Promise<unknown> {
    const { queue, handler } = registered;
    const context = this.contextOf(queue, job);
    const startedAt = performance.now();
    let outcome: JobResult = 'completed';
    this.count(queue, 1);
    try {
      const result = await handler.handle(job.data as never, context);
      return result ?? null;
    } catch (error) {
      const isLast = error instanceof PermanentJobError || context.attempt >= context.attempts;
      outcome = isLast ? 'failed' : 'retried';
      this.log.jobFailed(queue, context.id, error);
      const reason = encodeFailure(error);
      if (error instanceof PermanentJobError) throw new UnrecoverableError(reason);
      throw new Error(reason, { cause: error });
    } finally {
      this.count(queue, -1);
      this.log.jobEnded(queue, outcome, (performance.now() - startedAt) / 1_000);
    }
  }

  private count(queue: QueueName, change: 1 | -1): void {
    this.busy.set(queue, (this.busy.get(queue) ?? 0) + change);
  }

  private contextOf(queue: QueueName, job: Job): JobContext {
    return {
      id: job.id ?? '',
      queue,
      attempt: job.attemptsMade + 1,
      attempts: job.opts.attempts ?? 1,
      signal: this.aborting.signal,
      progress: (value) => job.updateProgress(value),
    };
  }
}
