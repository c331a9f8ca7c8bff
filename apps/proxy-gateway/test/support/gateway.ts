import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createTestApp, createTestDatabase, waitFor } from '@gatehouse/testing';
import type { TestApp } from '@gatehouse/testing';
import { AppModule } from '../../src/app.module.js';
import { SERVICE_NAME } from '../../src/service-version.js';
import { SERVICE } from '../../src/service.js';
import { HTTP_OPTIONS } from '../../src/http-options.js';
import { KernelLauncher } from '../../src/kernel-process/kernel-launcher.js';
import { OwnSpools } from '../../src/kernel-process/own-spools.js';
import { KernelService } from '../../src/kernel-process/kernel.service.js';
import { DocumentParser } from '../../src/documents/document-parser.js';
import { RuleSetParser } from '../../src/rule-sets/rule-set-parser.js';
import { testParser } from './document-parser.js';
import { testRuleSetParser } from './rule-set-parser.js';
import { readSettings } from '../../src/settings.js';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
const ADMIN_PASSWORD = 'a password for tests';

const KERNEL = new URL('../../bundle/kernel/kernel-main.js', import.meta.url);

/** Any JSON; a test that reads a wrong field fails on its own. */
export type AnyJson = ReturnType<JSON['parse']>;

export interface Answer<T = AnyJson> {
  status: number;
  body: T;
  headers: Headers;
}

/** A complete proxy gateway: real database, queue and kernel. */
export interface Gateway extends AsyncDisposable {
  app: TestApp;
  kernel: KernelService;
  /** The port for clients of the proxy. */
  proxyPort: number;
  /** The administrator's credentials, as a header field. */
  authorization(): string;
  /** Sends the administrator's credentials; an empty header field removes a default one. */
  call<T = AnyJson>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
}

/** @param stored settings as left by an earlier run of the service. */
export async function startGateway(
  env: Record<string, string> = {},
  stored: Record<string, string> = {},
): Promise<Gateway> {
  const database = await createTestDatabase({ template: { key: 'proxy_gateway', prepare: migrate } });
  const home = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const settings = readSettings({
    DATABASE_URL: database.url,
    GATEHOUSE_HOME: home,
    GATEHOUSE_SECRET_KEY: SECRET_KEY,
    GATEHOUSE_ADMIN_PASSWORD: ADMIN_PASSWORD,
    PROXY_KERNEL_PORT: '0',
    AUTO_MIGRATE: 'true',
    LOG_LEVEL: 'debug',
    ...env,
  });
  await storeSettings(database.url, stored);
  const clean = async (): Promise<void> => {
    await database.drop();
    rmSync(home, { recursive: true, force: true });
  };
  const app = await createTestApp({
    name: SERVICE_NAME,
    module: AppModule.forRoot(settings),
    settings,
    http: HTTP_OPTIONS,
    override: (builder) =>
      builder
        .overrideProvider(KernelLauncher)
        // A real process of the last build: from source, each one would compile what it loads for half a second.
        .useValue(new KernelLauncher(KERNEL, [], new OwnSpools(settings)))
        .overrideProvider(DocumentParser)
        .useValue(testParser())
        .overrideProvider(RuleSetParser)
        .useValue(testRuleSetParser()),
  }).catch(async (error: unknown) => {
    await clean();
    throw error;
  });
  const kernel = app.app.get(KernelService, { strict: false });
  const { call, login, authorization } = client(`${app.url}/api/v1`);
  await login(ADMIN_PASSWORD);
  const proxyPort = await listeningPort(kernel);
  return {
    app,
    kernel,
    proxyPort,
    authorization,
    call,
    async [Symbol.asyncDispose]() {
      await app.close();
      await clean();
    },
  };
}

async function migrate(url: string): Promise<void> {
  await SERVICE.migrate({ databaseUrl: url });
}

async function storeSettings(databaseUrl: string, stored: Record<string, string>): Promise<void> {
  if (Object.keys(stored).length === 0) return;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const entry of Object.entries(stored)) {
      await client.query('INSERT INTO proxy_gateway.settings (key, value) VALUES ($1, $2)', entry);
    }
  } finally {
    await client.end();
  }
}

function client(base: string) {
  let credentials: Record<string, string> = {};
  const call: Gateway['call'] = async (method, path, body, headers = {}) => {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const fields = Object.entries({ ...type, ...credentials, ...headers }).filter(([, value]) => value !== '');
    const response = await fetch(`${base}${path}`, {
      method,
      headers: Object.fromEntries(fields),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
  const login = async (password: string): Promise<void> => {
    const { body } = await call('POST', '/auth/login', { password });
    credentials = { authorization: `Bearer ${body.token}` };
  };
  return { call, login, authorization: () => credentials['authorization'] ?? '' };
}

export function listeningPort(kernel: KernelService): Promise<number> {
  return waitFor(async () => (await kernel.status()).listeners.find(({ state }) => state === 'listening')?.port);
}
