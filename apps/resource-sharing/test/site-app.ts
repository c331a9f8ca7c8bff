import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestApp, createTestDatabase, type TestApp } from '@gatehouse/testing';
import { AppModule } from '../src/app.module.js';
import { SERVICE } from '../src/service.js';
import { HTTP_OPTIONS } from '../src/http-options.js';
import { readSettings } from '../src/settings.js';
import { inKeyMode } from './support/test-key-mode.js';

export interface SiteApp extends TestApp {
  home: string;
}

/** The whole service on a migrated database of its own. */
export async function startSite(env: Record<string, string> = {}): Promise<SiteApp> {
  const home = mkdtempSync(join(tmpdir(), 'resource-sharing-'));
  const database = await createTestDatabase({ template: { key: 'resource_sharing', prepare: migrate } });
  const settings = readSettings({ GATEHOUSE_HOME: home, DATABASE_URL: database.url, ...env });
  const running = await createTestApp({
    name: SERVICE.name,
    module: AppModule.forRoot(settings),
    settings,
    http: HTTP_OPTIONS,
  });
  const close = async (): Promise<void> => {
    await running.close();
    await database.drop();
    rmSync(home, { recursive: true });
  };
  return inKeyMode({ ...running, home, close, [Symbol.asyncDispose]: close });
}

async function migrate(url: string): Promise<void> {
  await SERVICE.migrate({ databaseUrl: url });
}
