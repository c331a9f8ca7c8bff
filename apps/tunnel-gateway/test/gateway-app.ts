import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestApp, createTestDatabase, type TestApp } from '@gatehouse/testing';
import { AppModule } from '../src/app.module.js';
import { SERVICE } from '../src/service.js';
import { EdgeLauncher } from '../src/edge-host/edge-launcher.js';
import { HTTP_OPTIONS } from '../src/http-options.js';
import { readSettings } from '../src/settings.js';

/** The edge as a real process of the last build: from source, each one would compile what it loads for most of a second. */
const BUILT_EDGE = new EdgeLauncher(new URL('../bundle/edge-supervisor/supervisor-main.js', import.meta.url));
const FREE_PORTS = {
  TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
  TUNNEL_AGENT_PORT: '0',
  TUNNEL_HTTP_PORT: '0',
  TUNNEL_HTTPS_PORT: '0',
};

export interface GatewayApp extends TestApp {
  home: string;
  databaseUrl: string;
}

/** The whole service on a migrated database of its own. */
export async function startGateway(
  env: Record<string, string> = {},
  reach = (url: string) => Promise.resolve(url),
  launcher = BUILT_EDGE,
): Promise<GatewayApp> {
  const home = mkdtempSync(join(tmpdir(), 'tunnel-gateway-'));
  const database = await createTestDatabase({ template: { key: 'tunnel_gateway', prepare: migrate } });
  const settings = readSettings({
    GATEHOUSE_HOME: home,
    DATABASE_URL: await reach(database.url),
    ...FREE_PORTS,
    ...env,
  });
  const running = await createTestApp({
    name: SERVICE.name,
    module: AppModule.forRoot(settings),
    settings,
    http: HTTP_OPTIONS,
    override: (builder) => builder.overrideProvider(EdgeLauncher).useValue(launcher),
  });
  const close = async (): Promise<void> => {
    await running.close();
    await database.drop();
    rmSync(home, { recursive: true });
  };
  return { ...running, home, databaseUrl: database.url, close, [Symbol.asyncDispose]: close };
}

async function migrate(url: string): Promise<void> {
  await SERVICE.migrate({ databaseUrl: url });
}
