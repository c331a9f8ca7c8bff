import type { QueueName } from '@gatehouse/contracts';
import { withClient } from '@gatehouse/persistence';
import { HealthRegistry, JsonLogger, MetricsRegistry, PlatformModule } from '@gatehouse/platform';
import {
  createTestDatabase,
  peerOrSkip,
  startRedis,
  waitFor,
  type RedisServer,
  type TestDatabase,
} from '@gatehouse/testing';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobHandler, Jobs, JobsModule, Schedules, type HandlesJobs, type WorkersMode } from './index.js';
import { KeptSchedules, type Schedule, type ScheduleStore, type StoredSchedule } from './kept-schedules.js';
import { QueueRegistry } from './queue-registry.js';
import { LOOK_AGAIN_MS, LOOK_EVERY_MS } from './schedules.js';
import { StoredSchedules } from './stored-schedules.js';

const QUEUE = 'retention';

describe.each(['postgres', 'redis'] as const)('schedules on %s', (kind) => {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  let missing = false;
  let serial = 0;
  let namespace: string;
  let runs = 0;
  let lines: string[] = [];
  const running: INestApplicationContext[] = [];

  beforeAll(async () => {
    if (kind === 'redis') {
      const program = peerOrSkip('redis-server');
      missing = program === undefined;
      if (program !== undefined) redis = await startRedis(program);
    }
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await redis?.close();
    await database.drop();
  });
  beforeEach((ctx) => {
    if (missing) ctx.skip('redis-server not found: npm run peers');
    [namespace, runs, lines] = [`spec${(serial += 1)}`, 0, []];
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });

  async function start(workers: WorkersMode, lookEveryMs = 100): Promise<INestApplicationContext> {
    class Handler implements HandlesJobs<'retention'> {
      handle(): Promise<unknown> {
        runs += 1;
        return Promise.resolve();
      }
    }
    JobHandler(QUEUE)(Handler);
    const jobs = JobsModule.forRoot({
      databaseUrl: database.url,
      redisUrl: redis?.url,
      workers,
      namespace,
      queues: [QUEUE],
      scheduleLookMs: lookEveryMs,
    });
    class AppModule {}
    const logger = new JsonLogger({ service: 't', level: 'warn', write: (line) => void lines.push(line) });
    Module({ imports: [PlatformModule.forRoot(logger), jobs], providers: [Handler] })(AppModule);
    const app = await NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
    running.push(app);
    return app;
  }

  const keep = (app: INestApplicationContext, everyMs = 100): Promise<void> =>
    app.get(Schedules).keepOne(QUEUE, { key: 'sweep', everyMs, payload: { requestedAt: 1 } });

  /** FLUSHALL, or a database whose queues were emptied. */
  async function empty(): Promise<void> {
    if (redis !== undefined) {
      const admin = new Redis(redis.url);
      await admin.flushall();
      admin.disconnect();
      return;
    }
    await withClient(database.url, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
         WHERE schemaname = 'bullmq' AND tablename NOT LIKE '%migration%'`,
      );
      const truncate = `TRUNCATE ${rows.map(({ name }) => name).join(', ')} CASCADE`;
      // The workers go on meanwhile and lock the tables in an order of their own: a deadlock is tried again.
      await waitFor(() => client.query(truncate));
    });
  }

  async function runAgain(): Promise<void> {
    const before = runs;
    await waitFor(() => runs >= before + 3, { timeoutMs: 15_000 });
  }

  it('run again after the store lost its data, and the loss is reported and counted once', async () => {
    const app = await start('inline');
    await keep(app);
    await runAgain();
    expect(lines).toEqual([]);
    await empty();
    await runAgain();
    const { text } = await app.get(MetricsRegistry).render();
    expect(text).toContain('job_schedules_restored_total{queue="retention"} 1');
    expect(lines.filter((line) => line.includes('The schedule sweep was put back: it was gone'))).toHaveLength(1);
  });

  it('run again in a separate worker, whichever of the two processes is still alive', async () => {
    const [api, worker] = [await start('separate'), await start('only')];
    await Promise.all([keep(api), keep(worker)]);
    await runAgain();
    await api.close();
    running.splice(running.indexOf(api), 1);
    await (redis?.restartEmpty() ?? empty());
    await runAgain();
    await empty();
    await keep(await start('separate'));
    await runAgain();
  });

  it('change their times, and end, according to the configuration', async () => {
    const app = await start('separate', 3_600_000);
    let wanted: Schedule<'retention'>[] = [{ key: 'sweep', everyMs: 60_000, payload: { requestedAt: 1 } }];
    const kept = await app.get(Schedules).keep({ queue: QUEUE, owns: (key) => key === 'sweep', wanted: () => wanted });
    const jobs = app.get(Jobs);
    await jobs.upsertScheduler(QUEUE, 'of-another-owner', { everyMs: 60_000 }, { requestedAt: 1 });
    wanted = [{ key: 'sweep', everyMs: 30_000, payload: { requestedAt: 1 } }];
    await kept.look();
    const [stored] = (await jobs.storedSchedules(QUEUE)).filter(({ key }) => key === 'sweep');
    expect(stored).toMatchObject({ everyMs: 30_000 });
    expect(stored?.next).toBeGreaterThan(Date.now() - 60_000);
    wanted = [];
    await kept.look();
    expect(await jobs.schedulers(QUEUE)).toEqual(['of-another-owner']);
  });

  it('find the job of their next run in the store', async () => {
    const app = await start('separate', 3_600_000);
    await keep(app, 60_000);
    const store = new StoredSchedules(app.get(Jobs), app.get(QueueRegistry));
    const [stored] = await store.list(QUEUE);
    expect(await store.hasNextJob(QUEUE, stored!)).toBe(true);
    expect(await store.hasNextJob(QUEUE, { ...stored!, next: 1 })).toBe(false);
    expect(await store.isBusy(QUEUE)).toBe(false);
    expect((await app.get(HealthRegistry).report()).status).toBe('ok');
  });
});

describe('a schedule check', () => {
  const wanted: Schedule = { key: 'sweep', everyMs: 10_000, payload: { requestedAt: 1 } };

  /** A store with scripted answers that records the requests. */
  class FakeStore implements ScheduleStore {
    stored: StoredSchedule[] = [];
    busy = false;
    hasJob = true;
    broken = false;
    readonly done: string[] = [];
    list(): Promise<StoredSchedule[]> {
      return this.broken ? Promise.reject(new Error('no answer')) : Promise.resolve(this.stored);
    }
    put(_queue: QueueName, { key }: Schedule): Promise<void> {
      this.done.push(`put ${key}`);
      return Promise.resolve();
    }
    remove(_queue: QueueName, key: string): Promise<void> {
      this.done.push(`remove ${key}`);
      return Promise.resolve();
    }
    isBusy(): Promise<boolean> {
      return Promise.resolve(this.busy);
    }
    hasNextJob(): Promise<boolean> {
      return Promise.resolve(this.hasJob);
    }
  }
  const due = (inMs: number): StoredSchedule[] => [{ key: 'sweep', everyMs: 10_000, next: Date.now() + inMs }];
  const failures: string[] = [];
  const lookAt = (store: FakeStore): KeptSchedules => {
    const source = { queue: 'retention' as const, owns: () => true, wanted: () => [wanted] };
    return new KeptSchedules(source, store, {
      restored: () => undefined,
      failed: (queue, { message }) => failures.push(`${queue}: ${message}`),
      looked: () => undefined,
    });
  };

  it.each([
    ['is late by less than a minute', () => ({ stored: due(-50_000) }), []],
    ['is late while a worker is busy with the queue', () => ({ stored: due(-600_000), busy: true }), []],
    ['has lost its next job', () => ({ stored: due(-120_000), hasJob: false }), ['remove sweep', 'put sweep']],
    ['is due an hour later than it can be', () => ({ stored: due(3_600_000) }), ['remove sweep', 'put sweep']],
  ])('%s', async (_case, state, done) => {
    const store = Object.assign(new FakeStore(), state());
    const kept = lookAt(store);
    await kept.look();
    expect(store.done).toEqual(done);
    await expect(kept.check()).resolves.toBeUndefined();
  });

  it('reports a schedule as overdue while its job waits for a worker, and as on time after it ran', async () => {
    const store = Object.assign(new FakeStore(), { stored: due(-120_000) });
    const kept = lookAt(store);
    await kept.look();
    expect(store.done).toEqual([]);
    await expect(kept.check()).rejects.toThrow('overdue by 120 s');
    store.stored = due(5_000);
    await kept.look();
    await expect(kept.check()).resolves.toBeUndefined();
  });

  it('fails while the store does not answer, which is reported once', async () => {
    const store = Object.assign(new FakeStore(), { broken: true });
    const kept = lookAt(store);
    await kept.look();
    await kept.look();
    expect(failures).toEqual(['retention: no answer']);
    await expect(kept.check()).rejects.toThrow('no answer');
  });

  it('runs within seconds after the store was away for a while', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    try {
      const store = new FakeStore();
      const health = new HealthRegistry(new JsonLogger({ service: 't', level: 'error', write: () => undefined }));
      const schedules = new Schedules(store, { health });
      await schedules.keepOne(QUEUE, wanted);
      store.stored = due(5_000);
      store.broken = true;
      await vi.advanceTimersByTimeAsync(LOOK_EVERY_MS);
      expect((await health.report()).degraded).toEqual(['schedule:retention']);
      store.broken = false;
      await vi.advanceTimersByTimeAsync(LOOK_AGAIN_MS);
      expect((await health.report()).status).toBe('ok');
      await schedules.onModuleDestroy();
    } finally {
      vi.useRealTimers();
    }
  });
});
