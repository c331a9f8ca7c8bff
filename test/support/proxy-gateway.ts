import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SystemStatus } from '@gatehouse/contracts';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { freePort } from './processes.js';

const MAIN = fileURLToPath(new URL('../../apps/proxy-gateway/dist/main.js', import.meta.url));
const PASSWORD = 'a-password-for-tests';

/** The built proxy-gateway as a process of its own, with its kernel, on a database and a home of its own. */
export class RunningProxyGateway implements AsyncDisposable {
  readonly database: TestDatabase;
  /** Where the console and the API are. */
  readonly url: string;
  readonly password = PASSWORD;
  readonly #process: ChildProcess;
  readonly #home: string;
  readonly #base: string;
  #token = '';

  private constructor(database: TestDatabase, child: ChildProcess, home: string, port: number) {
    this.database = database;
    this.#process = child;
    this.#home = home;
    this.url = `http://127.0.0.1:${port}`;
    this.#base = `${this.url}/api/v1`;
  }

  static async start(): Promise<RunningProxyGateway> {
    const database = await createTestDatabase();
    const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-interop-'));
    const child = fork(MAIN, [], {
      env: environment(database.url, home, await freePort()),
      execArgv: [], // the test runner's own would make the built files import sources
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let printed = '';
    const keep = (chunk: Buffer): void => void (printed = (printed + chunk.toString()).slice(-4000));
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const port = await Promise.race([
      once(child, 'message').then(([message]) => portOf(message as ServiceMessage)),
      once(child, 'exit').then(([code]) => {
        throw new Error(`proxy-gateway ended with ${code} before it was ready:\n${printed}`);
      }),
    ]);
    const gateway = new RunningProxyGateway(database, child, home, port);
    gateway.#token = (await gateway.call<{ token: string }>('POST', '/auth/login', { password: PASSWORD })).token;
    return gateway;
  }

  async call<T>(method: string, route: string, body?: unknown): Promise<T> {
    const response = await fetch(this.#base + route, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  async kernel(): Promise<SystemStatus['kernel']> {
    return (await this.call<SystemStatus>('GET', '/system/status')).kernel;
  }

  /** Port that clients of the proxy use. */
  async proxyPort(): Promise<number> {
    const listener = (await this.kernel()).listeners.find(({ state }) => state === 'listening');
    if (!listener) throw new Error('the kernel does not listen');
    return listener.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
    await this.database.drop();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** First word of a service to its parent. */
type ServiceMessage = { type: 'ready'; port: number } | { type: 'failed'; lines: string[] };

function portOf(message: ServiceMessage): number {
  if (message.type === 'failed') throw new Error(`proxy-gateway did not start: ${message.lines.join('\n')}`);
  return message.port;
}

/** The kernel gets a port of its own choosing by us: it must come back on the same one after a crash. */
function environment(databaseUrl: string, home: string, kernelPort: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    GATEHOUSE_HOME: home,
    GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
    PROXY_GATEWAY_PORT: '0',
    PROXY_KERNEL_PORT: String(kernelPort),
    AUTO_MIGRATE: 'true',
    WORKERS: 'inline',
    LOG_LEVEL: 'warn',
  };
}
