import type { QueueName } from '@gatehouse/contracts';
import { decodeFailure, JobFailedError, JobsUnavailableError, JobTimeoutError } from './job-errors.js';
import type { QueueRegistry } from './queue-registry.js';

/** A lost event (because of a reconnection, for instance) delays an answer by at most this. */
const LOOK_AGAIN_MS = 1_000;
/** An event stream holds a connection; it is kept this long after the last wait. */
const KEEP_EVENTS_MS = 20_000;

/** Requesting a job again deletes the finished one first, so only a job that stays missing is gone. */
const REPLACED_WITHIN_MS = 500;

interface Waiting {
  look: () => Promise<void>;
  reject: (error: Error) => void;
}

/** Waits for jobs to end, whichever process runs them. */
export class JobWaiter {
  /** The waiting callers, per queue and job id. */
  private readonly waiting = new Map<QueueName, Map<string, Set<Waiting>>>();
  private readonly releases = new Map<QueueName, NodeJS.Timeout>();

  constructor(
    private readonly registry: QueueRegistry,
    private readonly keepEventsMs = KEEP_EVENTS_MS,
  ) {}

  /** The job's result. @throws JobFailedError, JobTimeoutError, or JobsUnavailableError at shutdown. */
  async result(queue: QueueName, jobId: string, timeoutMs: number): Promise<unknown> {
    const ended = settleable();
    let missedAt: number | undefined;
    const look = async (): Promise<void> => {
      const outcome = await this.outcome(queue, jobId);
      missedAt = outcome === 'missing' ? (missedAt ?? performance.now()) : undefined;
      if (missedAt !== undefined && performance.now() - missedAt >= REPLACED_WITHIN_MS) ended.reject(removed());
      else if (outcome === 'missing') return;
      else if (outcome instanceof Error) ended.reject(outcome);
      else if (outcome !== undefined) ended.resolve(outcome.result);
    };
    const entry: Waiting = { look, reject: ended.reject };
    const late = setTimeout(() => {
      ended.reject(new JobTimeoutError(`The job ${jobId} of ${queue} did not end within ${timeoutMs} ms.`));
    }, timeoutMs);
    // A failed check is repeated until the deadline.
    const again = setInterval(() => void look().catch(() => undefined), LOOK_AGAIN_MS);
    this.enter(queue, jobId, entry);
    try {
      void this.listening(queue)
        .then(look)
        .catch(() => undefined);
      return await ended.promise;
    } finally {
      clearTimeout(late);
      clearInterval(again);
      this.leave(queue, jobId, entry);
    }
  }

  /** Ends every wait: the process is shutting down. */
  close(): void {
    for (const release of this.releases.values()) clearTimeout(release);
    for (const jobs of this.waiting.values()) {
      for (const entries of jobs.values()) {
        for (const { reject } of entries)
          reject(new JobsUnavailableError('The service is shutting down.', '服务正在关闭。'));
      }
    }
  }

  /** Undefined while the job is running. */
  private async outcome(queue: QueueName, jobId: string): Promise<{ result: unknown } | Error | 'missing' | undefined> {
    // The state first: a job that is read after it ended is complete, and the reason of a failed attempt outlives a
    // later success.
    const state = await this.registry.queue(queue).getJobState(jobId);
    if (state !== 'completed' && state !== 'failed' && state !== 'unknown') return undefined;
    const job = await this.registry.queue(queue).getJob(jobId);
    if (job === undefined) return 'missing';
    // Added again between the two requests: it has not ended.
    if (job.finishedOn === undefined) return undefined;
    if (state === 'completed') return { result: job.returnvalue };
    return new JobFailedError(decodeFailure(job.failedReason));
  }

  private async listening(queue: QueueName): Promise<void> {
    await this.registry.queueEvents(queue).waitUntilReady();
  }

  private enter(queue: QueueName, jobId: string, entry: Waiting): void {
    clearTimeout(this.releases.get(queue));
    let jobs = this.waiting.get(queue);
    if (jobs === undefined) {
      jobs = new Map();
      this.waiting.set(queue, jobs);
      const events = this.registry.queueEvents(queue);
      events.on('completed', (event) => this.wake(queue, event.jobId));
      events.on('failed', (event) => this.wake(queue, event.jobId));
    }
    const entries = jobs.get(jobId);
    if (entries === undefined) jobs.set(jobId, new Set([entry]));
    else entries.add(entry);
  }

  private leave(queue: QueueName, jobId: string, entry: Waiting): void {
    const jobs = this.waiting.get(queue);
    const entries = jobs?.get(jobId);
    entries?.delete(entry);
    if (entries?.size === 0) jobs?.delete(jobId);
    if (jobs?.size === 0) this.releaseLater(queue);
  }

  private releaseLater(queue: QueueName): void {
    const release = setTimeout(() => {
      this.waiting.delete(queue);
      // A stream that fails to close is still removed from the registry.
      this.registry.closeQueueEvents(queue).catch(() => undefined);
    }, this.keepEventsMs);
    release.unref();
    clearTimeout(this.releases.get(queue));
    this.releases.set(queue, release);
  }

  private wake(queue: QueueName, jobId: string): void {
    for (const { look } of this.waiting.get(queue)?.get(jobId) ?? []) void look().catch(() => undefined);
  }
}

function removed(): JobFailedError {
  return new JobFailedError({ message: 'The job was removed before it ended.' });
}

interface Settleable {
  promise: Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

function settleable(): Settleable {
  let resolve: Settleable['resolve'] = () => undefined;
  let reject: Settleable['reject'] = () => undefined;
  const promise = new Promise<unknown>((onResult, onError) => {
    resolve = onResult;
    reject = onError;
  });
  return { promise, resolve, reject };
}
