import type { QueueName, QueuePayloads } from '@gatehouse/contracts';
import { createDataSource, migrate, PersistenceModule, UnitOfWork, withClient } from '@gatehouse/persistence';
import { mayPass } from '@gatehouse/postgres';
import {
  createTestDatabase,
  peerOrSkip,
  startRedis,
  waitFor,
  type RedisServer,
  type TestDatabase,
} from '@gatehouse/testing';
import { Module, type DynamicModule, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobWaiter } from './job-waiter.js';
import { JobWorkers } from './job-workers.js';
import { QueueRegistry } from './queue-registry.js';
import {
  createJobOutboxTable,
  JobFailedError,
  JobHandler,
  Jobs,
  JobsModule,
  JobTimeoutError,
  PermanentJobError,
  type HandlesJobs,
  type JobContext,
  type JobsConfig,
} from './index.js';

const QUEUES: QueueName[] = ['subscription-refresh', 'retention'];
type Refresh = QueuePayloads['subscription-refresh'];
type Handle = (payload: Refresh, job: JobContext) => Promise<unknown>;

class CreateOutbox1700000000001 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return createJobOutboxTable(runner);
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}

/** New handlers for each test; decorators are applied by hand (specs are compiled without the syntax). */
function handlers(refresh: Handle, concurrency = 5): Type<HandlesJobs>[] {
  class RefreshHandler implements HandlesJobs<'subscription-refresh'> {
    handle(payload: Refresh, job: JobContext): Promise<unknown> {
      return refresh(payload, job);
    }
  }
  class RetentionHandler implements HandlesJobs<'retention'> {
    handle(): Promise<unknown> {
      return Promise.resolve({ swept: true });
    }
  }
  JobHandler('subscription-refresh', { concurrency })(RefreshHandler);
  JobHandler('retention')(RetentionHandler);
  return [RefreshHandler, RetentionHandler] as Type<HandlesJobs>[];
}

const echo: Handle = (payload) => Promise.resolve(payload);
const payload = (subscriptionId: number): Refresh => ({ subscriptionId, trigger: 'manual' });

describe.each(['postgres', 'redis'] as const)('jobs on %s', (kind) => {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  let missing = false;
  let serial = 0;
  let namespace: string;
  const running: INestApplicationContext[] = [];

  beforeAll(async () => {
    if (kind === 'redis') {
      const program = peerOrSkip('redis-server');
      missing = program === undefined;
      if (program !== undefined) redis = await startRedis(program);
    }
    database = await createTestDatabase();
    await migrate(dataSource());
  });
  afterAll(async () => {
    await redis?.close();
    await database.drop();
  });
  beforeEach((ctx) => {
    if (missing) ctx.skip('redis-server not found: npm run peers');
    namespace = `spec${(serial += 1)}`;
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });

  const config = () => ({
    url: database.url,
    schema: 'jobs_spec',
    entities: [],
    migrations: [CreateOutbox1700000000001],
    applicationName: 'spec',
  });
  const dataSource = (): DataSource => createDataSource(config());

  async function start(
    providers: Type<HandlesJobs>[],
    options: Partial<JobsConfig> & { modules?: DynamicModule[]; queues?: QueueName[] } = {},
  ): Promise<INestApplicationContext> {
    const { modules = [], queues = QUEUES, ...rest } = options;
    const jobs = JobsModule.forRoot({
      databaseUrl: database.url,
      redisUrl: redis?.url,
      workers: 'inline',
      namespace,
      queues,
      ...rest,
    });
    class AppModule {}
    Module({ imports: [PersistenceModule.forRoot(config()), jobs, ...modules], providers })(AppModule);
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    running.push(app);
    return app;
  }

  it('runs a job and returns its result to the waiting caller', async () => {
    const app = await start(handlers(echo));
    const result = await app.get(Jobs).addAndWait<Refresh>('subscription-refresh', payload(7), { timeoutMs: 5_000 });
    expect(result).toEqual(payload(7));
    const other = app.get(Jobs).addAndWait('retention', { requestedAt: 1 }, { timeoutMs: 5_000 });
    expect(await other).toEqual({ swept: true });
  });

  it('returns the result to a process without workers, and runs nothing there', async () => {
    const here: number[] = [];
    const api = await start(
      handlers(async ({ subscriptionId }) => here.push(subscriptionId)),
      { workers: 'separate' },
    );
    const id = await api.get(Jobs).add('subscription-refresh', payload(1));
    expect((await api.get(Jobs).status('subscription-refresh', id))?.state).toBe('waiting');
    await start(handlers(echo), { workers: 'only' });
    const result = await api.get(Jobs).addAndWait('subscription-refresh', payload(2), { timeoutMs: 5_000 });
    expect(result).toEqual(payload(2));
    expect(here).toEqual([]);
  });

  it('lists the jobs that have not ended, with their data', async () => {
    const gate = Promise.withResolvers<void>();
    const app = await start(handlers(() => gate.promise, 1));
    const jobs = app.get(Jobs);
    expect(jobs.queues).toEqual(QUEUES);
    await jobs.add('subscription-refresh', payload(1), { jobId: 'one' });
    await waitFor(async () => (await jobs.status('subscription-refresh', 'one'))?.state === 'active');
    await jobs.add('subscription-refresh', payload(2), { jobId: 'two' });
    await jobs.add('subscription-refresh', payload(3), { jobId: 'later', delay: 60_000 });
    const unfinished = await jobs.unfinished('subscription-refresh');
    expect(unfinished.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { id: 'one', payload: payload(1) },
      { id: 'two', payload: payload(2) },
    ]);
    gate.resolve();
    await waitFor(async () => (await jobs.unfinished('subscription-refresh')).length === 0);
  });

  it('always lists a job that a worker takes while the lists are read', async () => {
    let ran = '';
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const app = await start(
      handlers(async ({ subscriptionId }) => {
        ran = `job-${subscriptionId}`;
        await gates.get(ran)?.promise;
      }),
    );
    const jobs = app.get(Jobs);
    for (let round = 0; round < 40; round += 1) {
      const id = `job-${round}`;
      gates.set(id, Promise.withResolvers());
      await jobs.add('subscription-refresh', payload(round), { jobId: id });
      do {
        const looks = await Promise.all(Array.from({ length: 4 }, () => jobs.unfinished('subscription-refresh')));
        for (const look of looks) expect(look.map((job) => job.id)).toContain(id);
      } while (ran !== id);
      gates.get(id)!.resolve();
      await waitFor(async () => (await jobs.unfinished('subscription-refresh')).length === 0);
    }
  });

  it('returns a coded failure to the waiting caller, without a second attempt', async () => {
    let runs = 0;
    const app = await start(
      handlers(() => {
        runs += 1;
        return Promise.reject(Object.assign(new Error('The server said no.'), { code: 'FETCH_FAILED' }));
      }),
    );
    const failed = app.get(Jobs).addAndWait('subscription-refresh', payload(1), { timeoutMs: 5_000 });
    await expect(failed).rejects.toBeInstanceOf(JobFailedError);
    await expect(failed).rejects.toMatchObject({ code: 'FETCH_FAILED', message: 'The server said no.' });
    expect(runs).toBe(1);
  });

  it('reports a failure because of an ended connection as temporary', async () => {
    const endMine = async (): Promise<void> => {
      if (redis === undefined) {
        await withClient(database.url, (client) => client.query('SELECT pg_terminate_backend(pg_backend_pid())'));
        return;
      }
      const client = new Redis(redis.url, { retryStrategy: () => null });
      client.on('error', () => undefined);
      await client.call('CLIENT', 'KILL', 'ID', String(await client.call('CLIENT', 'ID')), 'SKIPME', 'no');
      await client.ping();
    };
    const app = await start(handlers(endMine));
    const failed = app.get(Jobs).addAndWait('subscription-refresh', payload(1), { timeoutMs: 5_000 });
    await expect(failed).rejects.toMatchObject({ name: 'JobFailedError', temporary: true });
    await expect(failed).rejects.toSatisfy(mayPass);
    const other = app.get(Jobs).waitFor('subscription-refresh', 'removed', 5_000);
    await expect(other).rejects.toMatchObject({ name: 'JobFailedError', temporary: false });
  });

  it('releases the event stream after the last wait, and opens another for the next', async () => {
    const app = await start(handlers(echo));
    const registry = app.get(QueueRegistry);
    const waiter = new JobWaiter(registry, 20);
    const first = registry.queueEvents('subscription-refresh');
    const wait = async (subscriptionId: number): Promise<unknown> => {
      const id = await app.get(Jobs).add('subscription-refresh', payload(subscriptionId));
      return waiter.result('subscription-refresh', id, 5_000);
    };
    expect(await wait(1)).toEqual(payload(1));
    await waitFor(() => first.closing !== undefined);
    expect(await wait(2)).toEqual(payload(2));
    expect(registry.queueEvents('subscription-refresh')).not.toBe(first);
  });

  it('reports a timeout if the job takes longer than its caller waits', async () => {
    const gate = Promise.withResolvers<void>();
    const app = await start(handlers(() => gate.promise));
    const late = app.get(Jobs).addAndWait('subscription-refresh', payload(1), { timeoutMs: 100 });
    await expect(late).rejects.toBeInstanceOf(JobTimeoutError);
    gate.resolve();
  });

  it('retries with growing pauses until an attempt succeeds', async () => {
    const attempts: { attempt: number; at: number }[] = [];
    const app = await start(
      handlers((_, { attempt }) => {
        attempts.push({ attempt, at: Date.now() });
        return attempt < 2 ? Promise.reject(new Error('not yet')) : Promise.resolve('done');
      }),
    );
    const result = await app
      .get(Jobs)
      .addAndWait('subscription-refresh', payload(1), { timeoutMs: 10_000, attempts: 3 });
    expect(result).toBe('done');
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect((attempts[1]?.at ?? 0) - (attempts[0]?.at ?? 0)).toBeGreaterThanOrEqual(700);
  });

  it('does not retry after a permanent failure', async () => {
    let runs = 0;
    const app = await start(
      handlers(() => {
        runs += 1;
        return Promise.reject(new PermanentJobError('gone', { code: 'GONE' }));
      }),
    );
    const failed = app.get(Jobs).addAndWait('subscription-refresh', payload(1), { timeoutMs: 5_000, attempts: 5 });
    await expect(failed).rejects.toMatchObject({ code: 'GONE', message: 'gone' });
    expect(runs).toBe(1);
  });

  it('reports progress, result and failure through status, and counts jobs by state', async () => {
    const gate = Promise.withResolvers<void>();
    const app = await start(
      handlers(async ({ subscriptionId }, job) => {
        await job.progress({ done: 3, of: 10 });
        await gate.promise;
        if (subscriptionId === 2) throw new Error('broken');
        return { imported: 10 };
      }),
    );
    const jobs = app.get(Jobs);
    const id = await jobs.add('subscription-refresh', payload(1));
    const active = await waitFor(async () => {
      const status = await jobs.status('subscription-refresh', id);
      // The state is read first: a job that starts in between still waits, and has progress.
      return status?.state === 'active' && status.progress !== undefined ? status : undefined;
    });
    expect(active).toMatchObject({ id, state: 'active', progress: { done: 3, of: 10 }, result: undefined });
    expect((await jobs.counts())['subscription-refresh']).toMatchObject({ active: 1, waiting: 0 });
    gate.resolve();
    const done = await waitFor(async () => {
      const status = await jobs.status('subscription-refresh', id);
      return status?.state === 'completed' ? status : undefined;
    });
    expect(done).toMatchObject({ result: { imported: 10 }, failure: undefined, attemptsMade: 1 });
    expect(done.finishedAt).toBeInstanceOf(Date);
    const bad = await jobs.add('subscription-refresh', payload(2), { attempts: 1 });
    const failed = await waitFor(async () => {
      const status = await jobs.status('subscription-refresh', bad);
      return status?.state === 'failed' ? status : undefined;
    });
    expect(failed.failure).toEqual({ message: 'broken' });
    expect((await jobs.counts())['subscription-refresh']).toMatchObject({ completed: 1, failed: 1 });
    expect(await jobs.status('subscription-refresh', 'never-was')).toBeUndefined();
  });

  it('joins an unfinished job of the same id and replaces a finished one', async () => {
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const app = await start(
      handlers(async () => {
        runs += 1;
        await gate.promise;
        return runs;
      }),
    );
    const jobs = app.get(Jobs);
    const options = { timeoutMs: 5_000, jobId: 'refresh-1' };
    const both = [1, 2].map(() => jobs.addAndWait('subscription-refresh', payload(1), options));
    await waitFor(() => runs === 1);
    gate.resolve();
    expect(await Promise.all(both)).toEqual([1, 1]);
    expect(await jobs.addAndWait('subscription-refresh', payload(1), options)).toBe(2);
    await expect(jobs.add('subscription-refresh', payload(1), { jobId: '12' })).rejects.toThrow('jobId');
    await expect(jobs.add('subscription-refresh', payload(1), { jobId: 'a:b' })).rejects.toThrow('jobId');
  });

  it('runs the jobs of a scheduler until it is removed, and keeps its phase when it is set again', async () => {
    const runs: number[] = [];
    const app = await start(handlers(async () => runs.push(Date.now())));
    const jobs = app.get(Jobs);
    await jobs.upsertScheduler('subscription-refresh', 'sub-1', { everyMs: 200 }, payload(1));
    await waitFor(() => runs.length >= 3);
    // Not at once; how late a busy machine runs the first of them is open.
    expect((runs[2] ?? 0) - (runs[0] ?? 0)).toBeGreaterThanOrEqual(40);
    expect(await jobs.schedulers('subscription-refresh')).toEqual(['sub-1']);
    expect(await jobs.removeScheduler('subscription-refresh', 'sub-1')).toBe(true);
    expect(await jobs.removeScheduler('subscription-refresh', 'sub-1')).toBe(false);
    await waitFor(async () => {
      const counts = (await jobs.counts())['subscription-refresh'];
      return counts?.active === 0 && counts.delayed === 0 && counts.waiting === 0;
    });
    expect(await jobs.schedulers('subscription-refresh')).toEqual([]);
  });

  it('delays the first run of a scheduler by its jitter and does not move it when it is set again', async () => {
    const app = await start(handlers(echo));
    const jobs = app.get(Jobs);
    const options = { everyMs: 3_600_000, jitterMs: 600_000, firstInMs: 60_000 };
    await jobs.upsertScheduler('subscription-refresh', 'sub-1', options, payload(1));
    await jobs.upsertScheduler('subscription-refresh', 'sub-1', options, payload(1));
    expect((await jobs.counts())['subscription-refresh']).toMatchObject({ delayed: 1, waiting: 0, active: 0 });
  });

  it('answers all concurrent requests for a job that has already ended', async () => {
    const app = await start(handlers(echo));
    const jobs = app.get(Jobs);
    const options = { jobId: 'again', timeoutMs: 5_000 };
    await jobs.addAndWait('subscription-refresh', payload(1), options);
    for (let round = 0; round < 10; round++) {
      const asked = Array.from({ length: 12 }, () => jobs.addAndWait('subscription-refresh', payload(1), options));
      const outcomes = await Promise.allSettled(asked);
      expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : 'ok'))).toEqual(
        Array.from({ length: 12 }, () => 'ok'),
      );
    }
  });

  it('queues a job when its transaction commits, and never when it rolls back', async () => {
    const ran: number[] = [];
    const app = await start(handlers(async ({ subscriptionId }) => ran.push(subscriptionId)));
    const [unit, jobs] = [app.get(UnitOfWork), app.get(Jobs)];
    let beforeCommit: unknown;
    await unit.run(async (tx) => {
      await jobs.enqueueAfterCommit(tx, 'subscription-refresh', payload(1));
      beforeCommit = (await jobs.counts())['subscription-refresh'];
    });
    const rolledBack = unit.run(async (tx) => {
      await jobs.enqueueAfterCommit(tx, 'subscription-refresh', payload(2));
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await unit.run((tx) => jobs.enqueueAfterCommit(tx, 'subscription-refresh', payload(3)));
    await waitFor(() => ran.includes(3));
    expect(ran).toEqual([1, 3]);
    expect(beforeCommit).toMatchObject({ waiting: 0, active: 0 });
    expect(await app.get(DataSource).query('SELECT * FROM job_outbox')).toEqual([]);
  });

  it('runs a job of the outbox again if one with its id has already ended', async () => {
    const ran: number[] = [];
    const app = await start(handlers(async ({ subscriptionId }) => ran.push(subscriptionId)));
    const [unit, jobs] = [app.get(UnitOfWork), app.get(Jobs)];
    for (const id of [1, 2, 3]) {
      await unit.run((tx) => jobs.enqueueAfterCommit(tx, 'subscription-refresh', payload(id), { jobId: 'the-same' }));
      await waitFor(async () => (await jobs.counts())['subscription-refresh']?.completed === 1 && ran.length === id);
    }
    expect(ran).toEqual([1, 2, 3]);
  });

  it('relays at boot what a dead process left in the outbox', async () => {
    const source = await dataSource().initialize();
    await source.query(`INSERT INTO job_outbox (queue, payload, options) VALUES ('subscription-refresh', $1, '{}')`, [
      JSON.stringify(payload(9)),
    ]);
    await source.destroy();
    const ran: number[] = [];
    await start(handlers(async ({ subscriptionId }) => ran.push(subscriptionId)));
    await waitFor(() => ran.length === 1);
    expect(ran).toEqual([9]);
  });

  it('lets a running job finish before it shuts down, and starts no other', async () => {
    const gate = Promise.withResolvers<void>();
    const ended: number[] = [];
    const app = await start(
      handlers(async ({ subscriptionId }) => {
        await gate.promise;
        ended.push(subscriptionId);
      }, 1),
    );
    const jobs = app.get(Jobs);
    const first = await jobs.add('subscription-refresh', payload(1));
    await jobs.add('subscription-refresh', payload(2));
    await waitFor(async () => (await jobs.status('subscription-refresh', first))?.state === 'active');
    running.splice(running.indexOf(app), 1);
    const drain = vi.spyOn(JobWorkers.prototype, 'drain');
    const closed = app.close();
    await waitFor(() => drain.mock.calls.length > 0);
    gate.resolve();
    await closed;
    expect(ended).toEqual([1]);
    const next = await start(handlers(echo));
    await waitFor(async () => (await next.get(Jobs).counts())['subscription-refresh']?.completed === 2);
  });

  it('aborts a job that does not end in time and still closes', async () => {
    let aborted = false;
    const started = Promise.withResolvers<void>();
    const app = await start(
      handlers((_, { signal }) => {
        started.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(new Error('stopped'));
          });
        });
      }),
      { drainMs: 50 },
    );
    await app.get(Jobs).add('subscription-refresh', payload(1));
    await started.promise;
    running.splice(running.indexOf(app), 1);
    await app.close();
    expect(aborted).toBe(true);
  });

  it('continues after all its connections were cut', async () => {
    const app = await start(handlers(echo));
    const jobs = app.get(Jobs);
    await jobs.addAndWait('subscription-refresh', payload(1), { timeoutMs: 5_000 });
    if (redis === undefined) {
      await withClient(database.url, (client) =>
        client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`),
      );
    } else {
      const admin = new Redis(redis.url);
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      admin.disconnect();
    }
    const result = await waitFor(() =>
      jobs.addAndWait('subscription-refresh', payload(2), { timeoutMs: 5_000, jobId: 'after-the-cut' }),
    );
    expect(result).toEqual(payload(2));
  });

  it('needs no connection for workers and event streams except the listener of the process', async () => {
    const app = await start(handlers(echo));
    const wait = (id: number): Promise<unknown> =>
      app.get(Jobs).addAndWait('subscription-refresh', payload(id), { timeoutMs: 5_000, jobId: `notified-${id}` });
    await wait(1);
    await waitFor(() =>
      withClient(database.url, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          `SELECT application_name AS name FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'spec'`,
        );
        expect(rows).toEqual(kind === 'postgres' ? [{ name: 'spec listener' }] : []);
        return true;
      }),
    );
    // Sooner than the idle worker checks without a notification.
    expect(await wait(2)).toEqual(payload(2));
  });

  it('keeps the queues of two services separate', async () => {
    const seen: string[] = [];
    const one = await start(handlers(async () => seen.push('one')));
    namespace = `${namespace}-other`;
    await start(handlers(async () => seen.push('other')));
    await one.get(Jobs).addAndWait('subscription-refresh', payload(1), { timeoutMs: 5_000 });
    expect(seen).toEqual(['one']);
  });

  it('does not boot with a queue that has no handler, and names the queue', async () => {
    await expect(start(handlers(echo).slice(0, 1))).rejects.toThrow('the queue "retention" has no handler');
  });

  it('does not boot with two handlers for one queue, and names both', async () => {
    class SecondRefreshHandler implements HandlesJobs {
      handle(): Promise<unknown> {
        return Promise.resolve();
      }
    }
    JobHandler('subscription-refresh')(SecondRefreshHandler);
    await expect(start([...handlers(echo), SecondRefreshHandler])).rejects.toThrow(
      /"subscription-refresh" has 2 handlers: RefreshHandler \(AppModule\) and SecondRefreshHandler \(AppModule\)/,
    );
  });

  it('does not boot with a handler for a queue that is not listed', async () => {
    await expect(start(handlers(echo), { queues: ['retention'] })).rejects.toThrow(
      /RefreshHandler \(AppModule\) handles the queue "subscription-refresh"/,
    );
  });

  it('answers a ping', async () => {
    const app = await start(handlers(echo), { workers: 'separate' });
    await expect(app.get(Jobs).ping()).resolves.toBeUndefined();
  });
});
