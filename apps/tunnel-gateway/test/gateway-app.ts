import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestApp, createTestDatabase, type TestApp } from '@gatehouse/testing';
import { AppModule } from '../src/app.module.js';
import { migrateDatabase, SERVICE_NAME } from '../src/database.js';
import { HTTP_OPTIONS } from '../src/http-options.js';
import { readSettings } from '../src/settings.js';

export interface GatewayApp extends TestApp {
  home: string;
  databaseUrl: string;
}

/** The whole service on a migrated database of its own. */
export async function startGateway(env: Record<string, string> = {}): Promise<GatewayApp> {
  const home = mkdtempSync(join(tmpdir(), 'tunnel-gateway-'));
  const database = await createTestDatabase({ template: { key: 'tunnel_gateway', prepare: migrate } });
  const settings = readSettings({ GATEHOUSE_HOME: home, DATABASE_URL: database.url, ...env });
  const running = await createTestApp({
    name: SERVICE_NAME,
    module: AppModule.forRoot(settings),
    settings,
    http: HTTP_OPTIONS,
  });
  const close = async (): Promise<void> => {
    await running.close();
    await database.drop();
    rmSync(home, { recursive: true });
  };
  return { ...running, home, databaseUrl: database.url, close, [Symbol.asyncDispose]: close };
}

async function migrate(url: string): Promise<void> {
  await migrateDatabase(url);
}
