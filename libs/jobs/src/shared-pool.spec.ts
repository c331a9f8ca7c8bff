import { PersistenceModule, withLayer } from '@gatehouse/persistence';
import { JsonLogger, PlatformModule } from '@gatehouse/platform';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JobHandler, Jobs, JOBS_SCHEMA, JobsModule } from './index.js';

const QUEUE = 'retention';

describe('queues of a service with a data source', () => {
  let database: TestDatabase;
  let app: INestApplicationContext;

  beforeAll(async () => {
    database = await createTestDatabase();
    class Handler {
      handle = (): Promise<{ deleted: number }> => Promise.resolve({ deleted: 3 });
    }
    JobHandler(QUEUE, { concurrency: 1 })(Handler);
    const persistence = PersistenceModule.forRoot({
      url: database.url,
      schema: 'public',
      sharedSchemas: [JOBS_SCHEMA],
      layer: { searchPath: ['other'], sqlFiles: [], sqlFolder: new URL('file:///nowhere/'), setting: 'layers.who' },
      entities: [],
      migrations: [],
      applicationName: 'notes',
    });
    const jobs = JobsModule.forRoot({
      databaseUrl: database.url,
      workers: 'inline',
      namespace: 'notes',
      queues: [QUEUE],
    });
    class AppModule {}
    const logger = new JsonLogger({ service: 't', level: 'silent' });
    Module({ imports: [PlatformModule.forRoot(logger), persistence, jobs], providers: [Handler] })(AppModule);
    app = await NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
    await app.init();
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const addAndWait = (requestedAt: number): Promise<unknown> =>
    app.get(Jobs).addAndWait(QUEUE, { requestedAt }, { timeoutMs: 10_000 });

  it('need no connections of their own', async () => {
    await expect(addAndWait(1)).resolves.toEqual({ deleted: 3 });
    const rows = await app
      .get(DataSource)
      .query<{ name: string }[]>(
        `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' ORDER BY 1`,
      );
    expect(rows.map(({ name }) => name)).toEqual(['notes', 'notes listener']);
  });

  it('are the same for work in a layer', async () => {
    await expect(withLayer('someone', () => addAndWait(2))).resolves.toEqual({ deleted: 3 });
  });
});
