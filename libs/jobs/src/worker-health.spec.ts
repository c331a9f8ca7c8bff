import { HealthRegistry, JsonLogger, PlatformModule } from '@gatehouse/platform';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JobHandler, Jobs, JobsModule, type HandlesJobs, type WorkersMode } from './index.js';
import { JobWorkers } from './job-workers.js';
import { QueueRegistry } from './queue-registry.js';
import { jobsAreTaken } from './worker-health.js';

const QUEUE = 'retention';

describe('the health of a worker', () => {
  let database: TestDatabase;
  const running: INestApplicationContext[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });
  afterAll(() => database.drop());

  async function start(workers: WorkersMode, handle: () => Promise<unknown>): Promise<INestApplicationContext> {
    class Handler implements HandlesJobs<'retention'> {
      readonly handle = handle;
    }
    JobHandler(QUEUE, { concurrency: 1 })(Handler);
    const jobs = JobsModule.forRoot({ databaseUrl: database.url, workers, namespace: 'health', queues: [QUEUE] });
    class AppModule {}
    const logger = new JsonLogger({ service: 't', level: 'silent' });
    Module({ imports: [PlatformModule.forRoot(logger), jobs], providers: [Handler] })(AppModule);
    const app = await NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
    running.push(app);
    return app;
  }

  it('covers its store and its jobs; a service adds its own checks', async () => {
    const worker = await start('only', () => Promise.resolve());
    expect(Object.keys((await worker.get(HealthRegistry).report()).checks).sort()).toEqual(['jobs', 'queue']);
    const service = await start('separate', () => Promise.resolve());
    expect((await service.get(HealthRegistry).report()).checks).toEqual({});
  });

  it('fails when a worker has ended', async () => {
    const app = await start('only', () => Promise.resolve());
    await app.get(JobWorkers).drain(1_000);
    const report = await app.get(HealthRegistry).report();
    expect(report.failing).toEqual(['jobs']);
  });

  it('fails if a job waits although a worker is free', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const service = await start('separate', () => held);
    const registry = service.get(QueueRegistry);
    await service.get(Jobs).add(QUEUE, { requestedAt: 1 });
    const free = { idle: () => ({ stopped: [], free: [QUEUE] as const }) } as unknown as JobWorkers;
    await expect(jobsAreTaken(registry, free)).resolves.toBeUndefined();
    const later = Date.now() + 90_000;
    await expect(jobsAreTaken(registry, free, later)).rejects.toThrow(/a job of retention has waited for \d+ s/);

    const worker = await start('only', () => held);
    const workers = worker.get(JobWorkers);
    await waitFor(() => workers.idle().free.length === 0);
    await service.get(Jobs).add(QUEUE, { requestedAt: 2 });
    await expect(jobsAreTaken(registry, workers, later)).resolves.toBeUndefined();
    release();
    await waitFor(() => workers.idle().free.length === 1);
  });
});
