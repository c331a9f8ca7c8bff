import { Jobs } from '@gatehouse/jobs';
import { createDataSource } from '@gatehouse/persistence';
import { createLogger, rootModule } from '@gatehouse/platform';
import { NestFactory } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { WorkerModule } from '../src/app.module.js';
import { SERVICE } from '../src/service.js';
import { readSettings } from '../src/settings.js';
import { startOpenSite } from './support/open-site.js';

let site: Awaited<ReturnType<typeof startOpenSite>>;
let sql: DataSource;

beforeAll(async () => {
  site = await startOpenSite({ WORKERS: 'separate' });
  sql = await createDataSource(SERVICE.databaseConfig(site.databaseUrl, 'test')).initialize();
});

afterAll(async () => {
  await sql.destroy();
  await site.close();
});

async function addLimit(): Promise<void> {
  await sql.query("INSERT INTO rate_limits (key, tat) VALUES ('over', now() - interval '1 day')");
}

const limits = async (): Promise<unknown[]> => sql.query("SELECT 1 FROM rate_limits WHERE key = 'over'");

describe('retention', () => {
  it('runs in a separate worker for an API without one', async () => {
    await addLimit();
    const jobs = site.app.get(Jobs);
    const id = await jobs.add('retention', { requestedAt: Date.now(), part: 'limits' });
    expect(await limits()).toHaveLength(1);
    const settings = readSettings({ DATABASE_URL: site.databaseUrl, GATEHOUSE_HOME: site.home, LOG_LEVEL: 'silent' });
    const root = rootModule(
      { module: WorkerModule.forRoot(settings) },
      createLogger({ name: 'worker test', settings }),
    );
    const worker = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    try {
      await jobs.waitFor('retention', id, 20_000);
      expect(await limits()).toHaveLength(0);
      const unknown = jobs.addAndWait('retention', { requestedAt: Date.now(), part: 'dust' }, { timeoutMs: 20_000 });
      await expect(unknown).rejects.toThrow('no retention of "dust"');
    } finally {
      await worker.close();
    }
  });
});
