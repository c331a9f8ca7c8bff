import type { QueueName, QueuePayloads } from '@gatehouse/contracts';
import { createDataSource, migrate, PersistenceModule, UnitOfWork } from '@gatehouse/persistence';
import { createTestDatabase, peerOrSkip, startRedis, type RedisServer, type TestDatabase } from '@gatehouse/testing';
import { activeTracing, currentTraceId, runSpan, startTracing, type RunningTracing } from '@gatehouse/tracing';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { QueryRunner } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createJobOutboxTable, JobHandler, Jobs, JobsModule, type HandlesJobs } from './index.js';

type Payload = QueuePayloads['subscription-refresh'];
const QUEUES: QueueName[] = ['subscription-refresh'];
const payload = (subscriptionId: number): Payload => ({ subscriptionId, trigger: 'manual' });

class CreateOutbox1700000000001 {
  up(runner: QueryRunner): Promise<void> {
    return createJobOutboxTable(runner);
  }
  down(): Promise<void> {
    return Promise.resolve();
  }
}

/** Runs work as a request of one trace would, and resolves to the id of the trace. */
async function inTrace(work: () => Promise<unknown>): Promise<string | undefined> {
  const tracing = activeTracing();
  if (tracing === null) throw new Error('tracing is off');
  return await runSpan(tracing, { name: 'request', kind: 'server', parent: 'none' }, async () => {
    await work();
    return currentTraceId();
  });
}

describe.each(['postgres', 'redis'] as const)('the trace of a job on %s', (kind) => {
  const stack = new AsyncDisposableStack();
  let app: INestApplicationContext | undefined;
  /** By subscription: the trace in which its job ran. */
  const ran = new Map<number, string | undefined>();

  beforeAll(async () => {
    const program = kind === 'redis' ? peerOrSkip('redis-server') : undefined;
    if (kind === 'redis' && program === undefined) return;
    const redis: RedisServer | undefined = program === undefined ? undefined : await startRedis(program);
    if (redis !== undefined) stack.defer(() => redis.close());
    const database: TestDatabase = await createTestDatabase();
    stack.defer(() => database.drop());
    const log = { failed: () => undefined, resumed: () => undefined };
    const tracing: RunningTracing = await startTracing(
      {
        serviceName: 'spec',
        resource: {},
        url: 'http://127.0.0.1:1/v1/traces',
        headers: {},
        sampler: 'always_on',
        ratio: 1,
      },
      log,
    );
    stack.defer(() => tracing.stop());
    class RefreshHandler implements HandlesJobs<'subscription-refresh'> {
      handle({ subscriptionId }: Payload): Promise<unknown> {
        ran.set(subscriptionId, currentTraceId());
        return Promise.resolve();
      }
    }
    JobHandler('subscription-refresh')(RefreshHandler);
    const config = {
      url: database.url,
      schema: 'jobs_traces',
      entities: [],
      migrations: [CreateOutbox1700000000001],
      applicationName: 'spec',
    };
    await migrate(createDataSource(config));
    class AppModule {}
    const stores = { databaseUrl: database.url, redisUrl: redis?.url };
    const jobs = JobsModule.forRoot({ ...stores, workers: 'inline', namespace: `traces-${kind}`, queues: QUEUES });
    Module({ imports: [PersistenceModule.forRoot(config), jobs], providers: [RefreshHandler] })(AppModule);
    const started = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    stack.defer(() => started.close());
    app = started;
  });
  afterAll(() => stack.disposeAsync());
  beforeEach((ctx) => {
    if (app === undefined) ctx.skip('redis-server not found: npm run peers');
  });

  it('is that of the request that queued it', async () => {
    const traceId = await inTrace(async () => app?.get(Jobs).add('subscription-refresh', payload(1)));
    await expect.poll(() => ran.get(1)).toBe(traceId);
  });

  it('is that of the request whose transaction queued it, whoever passes it on', async () => {
    const traceId = await inTrace(async () =>
      app
        ?.get(UnitOfWork)
        .run((tx) => app?.get(Jobs).enqueueAfterCommit(tx, 'subscription-refresh', payload(2)) ?? Promise.resolve()),
    );
    await expect.poll(() => ran.get(2)).toBe(traceId);
  });

  it('is one of its own if no request queued it', async () => {
    await app?.get(Jobs).add('subscription-refresh', payload(3));
    await expect.poll(() => ran.get(3)).toMatch(/^[0-9a-f]{32}$/);
    expect([ran.get(1), ran.get(2)]).not.toContain(ran.get(3));
  });
});
