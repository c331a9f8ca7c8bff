import type { QueueName } from '@gatehouse/contracts';
import { Queue, QueueEvents, type Job, type JobsOptions } from 'bullmq';
import type { QueueStore } from './queue-store.js';

/** Limits for what finished jobs leave behind, so that neither store grows forever. */
const DEFAULT_JOB_OPTIONS: JobsOptions = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 1_000, jitter: 0.2 },
  removeOnComplete: { count: 200, age: 24 * 3_600 },
  removeOnFail: { count: 500, age: 7 * 24 * 3_600 },
  // Stacks go to the log of the process that ran the job, not to readers of the job.
  stackTraceLimit: 0,
};
const EVENTS_KEPT = 1_000;

/** The queues of one service, under names of their own, because services share one store. */
export class QueueRegistry {
  private readonly queues = new Map<QueueName, Queue>();
  private readonly events = new Map<QueueName, QueueEvents>();

  constructor(
    readonly store: QueueStore,
    readonly names: readonly QueueName[],
    private readonly namespace: string,
    private readonly onError: (queue: QueueName, error: Error) => void,
  ) {}

  /** Name of a queue in the store. */
  storedName(name: QueueName): string {
    return `${this.namespace}.${name}`;
  }

  queue(name: QueueName): Queue {
    if (!this.names.includes(name)) throw new TypeError(`JobsModule.forRoot() does not list the queue "${name}".`);
    const present = this.queues.get(name);
    if (present !== undefined) return present;
    const { connection, factory } = this.store;
    const queue = new Queue(
      this.storedName(name),
      { connection, defaultJobOptions: DEFAULT_JOB_OPTIONS, streams: { events: { maxLen: EVENTS_KEPT } } },
      factory,
    ) as unknown as Queue;
    queue.on('error', (error) => this.onError(name, error));
    this.queues.set(name, queue);
    return queue;
  }

  /** Makes room for a job with that id: a finished one would be taken for the new one. An unfinished one stays. */
  async clearFinished(name: QueueName, jobId: string): Promise<void> {
    const queue = this.queue(name);
    const former = (await queue.getJob(jobId)) as Job | undefined;
    if (former?.finishedOn === undefined) return;
    try {
      await former.remove();
    } catch (error) {
      // A concurrent request may have replaced the job: this one then joins it.
      const present = (await queue.getJob(jobId)) as Job | undefined;
      if (present?.timestamp === former.timestamp) throw error;
    }
  }

  /** The queue's event stream, opened when the first caller waits for a job: it holds a connection. */
  queueEvents(name: QueueName): QueueEvents {
    const present = this.events.get(name);
    if (present !== undefined) return present;
    const { connection, factory } = this.store;
    const events = new QueueEvents(this.storedName(name), { connection }, factory) as unknown as QueueEvents;
    events.on('error', (error) => this.onError(name, error));
    events.setMaxListeners(0);
    this.events.set(name, events);
    return events;
  }

  /** Releases the event stream's connection; the next caller of queueEvents() opens another. */
  async closeQueueEvents(name: QueueName): Promise<void> {
    const events = this.events.get(name);
    this.events.delete(name);
    await events?.close();
  }

  /** Closes queues and event streams, then the connections they shared. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.events.values()].map((events) => events.close()));
    await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
    await this.store.close();
  }
}
