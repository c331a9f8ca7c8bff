import type { QueueName } from '@gatehouse/contracts';
import type { HealthRegistry } from '@gatehouse/platform';
import type { DataSource } from 'typeorm';
import type { JobWorkers } from './job-workers.js';
import type { QueueRegistry } from './queue-registry.js';

/** If a free worker ignores a job for longer, it no longer receives notifications of jobs. */
const LONGEST_WAIT_MS = 60_000;

/** The health of a process that only runs jobs: its store, its database, and whether jobs are taken. */
export interface WorkerHealthParts {
  registry: QueueRegistry;
  workers: JobWorkers;
  dataSource?: DataSource | undefined;
}

/** Adds the checks `queue`, `database` and `jobs`. */
export function registerWorkerHealth(
  health: HealthRegistry,
  { registry, workers, dataSource }: WorkerHealthParts,
): void {
  health.register('queue', () => registry.store.ping());
  if (dataSource !== undefined) health.register('database', () => dataSource.query('SELECT 1'));
  health.register('jobs', () => jobsAreTaken(registry, workers));
}

/** @throws Error with the queues that nobody reads here, or whose jobs wait although a worker is free */
export async function jobsAreTaken(
  registry: QueueRegistry,
  workers: Pick<JobWorkers, 'idle'>,
  now = Date.now(),
): Promise<void> {
  const { stopped, free } = workers.idle();
  const waits = await Promise.all(
    free.map(async (queue) => ({ queue, ms: now - (await oldestSince(registry, queue)) })),
  );
  const late = waits.filter(({ ms }) => ms > LONGEST_WAIT_MS);
  const problems = [
    ...stopped.map((queue) => `the worker of ${queue} does not run`),
    ...late.map(
      ({ queue, ms }) => `a job of ${queue} has waited for ${Math.round(ms / 1_000)} s although its worker is free`,
    ),
  ];
  if (problems.length > 0) throw new Error(problems.join('; '));
}

/** When the queue's next job could have been taken, in milliseconds of the epoch; infinite if none waits. */
export async function oldestSince(registry: QueueRegistry, name: QueueName): Promise<number> {
  const jobs = await registry.queue(name).getJobs(['waiting', 'prioritized'], 0, 0, true);
  const since = jobs.flatMap((job) => (job === undefined ? [] : [job.timestamp + (job.opts.delay ?? 0)]));
  return Math.min(Number.POSITIVE_INFINITY, ...since);
}
