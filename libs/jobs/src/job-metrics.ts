import type { QueueName } from '@gatehouse/contracts';
import type { MetricsRegistry } from '@gatehouse/platform';
import type { QueueCounts } from './job-types.js';
import type { JobEnded } from './job-workers.js';
import type { Jobs } from './jobs.service.js';
import type { QueueRegistry } from './queue-registry.js';
import { oldestSince } from './worker-health.js';

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

/** Counts the jobs that this process ran. */
export function countJobs(metrics: MetricsRegistry): JobEnded {
  const ended = metrics.counter(
    'gatehouse_jobs_finished_total',
    'Attempts of jobs that ended in this process, by result',
    ['queue', 'result'],
  );
  const help = 'Time that attempts of jobs took in this process';
  const duration = metrics.histogram('gatehouse_job_duration_seconds', help, BUCKETS, ['queue']);
  return (queue, result, seconds) => {
    ended.inc({ queue, result });
    duration.observe({ queue }, seconds);
  };
}

/** Completed jobs are left out: the store keeps only the last ones. */
const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

interface QueueFigures {
  readonly queue: QueueName;
  readonly counts: QueueCounts;
  /** How long the job that is next has been waiting; 0 if none waits. */
  readonly oldestMs: number;
}

/** Shows how many jobs wait in the service's queues, and for how long. The store is read once for each scrape. */
export function showQueues(metrics: MetricsRegistry, jobs: Jobs, registry: QueueRegistry): void {
  const depth = metrics.gauge('gatehouse_queue_jobs', 'Jobs in the store, by state', ['queue', 'state']);
  const oldest = metrics.gauge('gatehouse_queue_oldest_job_seconds', 'How long the next waiting job has been waiting', [
    'queue',
  ]);
  const read = async (): Promise<QueueFigures[]> => {
    const now = Date.now();
    const all = await jobs.counts();
    return Promise.all(
      Object.entries(all).map(async ([name, counts]) => {
        const queue = name as QueueName;
        const since = counts.waiting > 0 ? await oldestSince(registry, queue) : now;
        return { queue, counts, oldestMs: Math.max(0, now - Math.min(now, since)) };
      }),
    );
  };
  metrics.readOnScrape('queues', [depth, oldest], read, (queues) => {
    for (const { queue, counts, oldestMs } of queues) {
      for (const state of STATES) depth.set({ queue, state }, counts[state]);
      oldest.set({ queue }, oldestMs / 1_000);
    }
  });
}
