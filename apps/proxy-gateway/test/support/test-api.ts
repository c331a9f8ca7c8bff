import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretBox, PersistenceModule, SECRET_BOX } from '@gatehouse/persistence';
import { createTestApp } from '@gatehouse/testing';
import type { TestApp } from '@gatehouse/testing';
import type { DynamicModule } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccessModule } from '../../src/auth/access.module.js';
import { ConnectionsModule } from '../../src/connections/connections.module.js';
import { DashboardModule } from '../../src/dashboard/dashboard.module.js';
import { SERVICE } from '../../src/service.js';
import { KernelService } from '../../src/kernel-process/kernel.service.js';
import { PreferencesModule } from '../../src/preferences/preferences.module.js';
import { RulesModule } from '../../src/rules/rules.module.js';
import { ProxyGatewaySettings } from '../../src/settings.js';
import { TrafficModule } from '../../src/traffic/traffic.module.js';
import { FakeKernel } from './fake-kernel.js';
import { openServiceDatabase } from './service-database.js';

export const PASSWORD = 'correct horse battery';

export interface Answer {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape, failures included
  body: any;
}

export interface TestApi {
  app: TestApp;
  kernel: FakeKernel;
  dataSource: DataSource;
  /** With the administrator's token, unless `headers` say otherwise. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  login(password?: string, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

export interface TestApiOptions {
  settings?: Partial<ProxyGatewaySettings>;
  /** Before the application starts. */
  prepare?: (dataSource: DataSource) => Promise<unknown>;
}

/** The API with a real database and a kernel that a test plays. */
export async function startTestApi({ settings: changes = {}, prepare }: TestApiOptions = {}): Promise<TestApi> {
  const database = await openServiceDatabase();
  await prepare?.(database.dataSource);
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-api-'));
  const settings = Object.assign(new ProxyGatewaySettings(), {
    home,
    databaseUrl: database.url,
    adminPassword: PASSWORD,
    trustedProxies: ['127.0.0.1'],
    ...changes,
  });
  const kernel = new FakeKernel();
  const app = await createTestApp({
    name: 'proxy-gateway',
    module: featuresModule(settings),
    settings,
    http: { errorFormat: 'proxy', globalPrefix: 'api/v1' },
    override: (builder) => builder.overrideProvider(KernelService).useValue(kernel),
  }).catch(async (error: unknown) => {
    await database.close();
    rmSync(home, { recursive: true, force: true });
    throw error;
  });
  const request = requester(`${app.url}/api/v1`);
  const login = (password = PASSWORD, headers = {}): Promise<Answer> =>
    request('POST', '/auth/login', { password }, headers);
  let token: string | undefined;
  return {
    app,
    kernel,
    dataSource: app.app.get(DataSource),
    login,
    call: async (method, path, body, headers) => {
      token ??= (await login()).body.token as string;
      return request(method, path, body, headers ?? { authorization: `Bearer ${token}` });
    },
    close: async () => {
      await app.close();
      await database.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function requester(base: string) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(base + path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
}

function featuresModule(settings: ProxyGatewaySettings): DynamicModule {
  return {
    module: TestFeatures,
    imports: [
      globals(settings),
      PersistenceModule.forRoot(SERVICE.databaseConfig(settings.databaseUrl, 'proxy-gateway test')),
      PreferencesModule,
      AccessModule.forRoot([randomBytes(32)]),
      TrafficModule,
      RulesModule,
      ConnectionsModule,
      DashboardModule,
    ],
  };
}

function globals(settings: ProxyGatewaySettings): DynamicModule {
  const providers = [
    { provide: ProxyGatewaySettings, useValue: settings },
    { provide: SECRET_BOX, useValue: createSecretBox(randomBytes(32)) },
  ];
  return { module: TestGlobals, global: true, providers, exports: providers.map(({ provide }) => provide) };
}

class TestFeatures {}

class TestGlobals {}
