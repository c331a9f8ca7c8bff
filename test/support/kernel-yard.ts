import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KernelListResponse } from '@gatehouse/contracts';
import { programEnvironment, reservePort, waitFor } from '@gatehouse/testing';
import { createMigratedDatabase } from './built-service.js';

const PASSWORD = 'a-password-for-tests';
/** Programs start slowly on a busy machine. */
const PATIENCE = { timeoutMs: 150_000 };
const APP = new URL('../../apps/proxy-gateway/', import.meta.url);

export interface YardAnswer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape, failures included
  body: any;
}

/**
 * Proxy kernels and services as programs of their own, on one database: kernel 1 listens on 127.0.0.1, kernel 2 on
 * 127.0.0.2, and so on, all on the same port.
 */
export class KernelYard implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-kernels-'));
  readonly proxyPort: number;
  readonly password = PASSWORD;
  readonly databaseUrl: string;
  private readonly apiPorts: readonly number[];
  private readonly healthPorts: readonly number[];
  private readonly env: NodeJS.ProcessEnv;
  private readonly running = new Set<ChildProcess>();
  private readonly drop: () => Promise<void>;
  private session: string | undefined;

  private constructor(database: { url: string; drop: () => Promise<void> }, ports: readonly number[], count: number) {
    const [proxyPort = 0, ...others] = ports;
    this.proxyPort = proxyPort;
    this.apiPorts = others.slice(0, count);
    this.healthPorts = others.slice(count);
    this.databaseUrl = database.url;
    this.drop = database.drop;
    this.env = {
      ...programEnvironment(),
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
    };
  }

  /** @param count the most kernels and services that the test starts. */
  static async open(count: number): Promise<KernelYard> {
    const database = await createMigratedDatabase('proxy-gateway');
    const ports = await Promise.all(Array.from({ length: 1 + 2 * count }, () => reservePort()));
    return new KernelYard({ url: database.url, drop: () => database.drop() }, ports, count);
  }

  /** The address on which a kernel listens. */
  address(kernel: number): string {
    return `127.0.0.${kernel}`;
  }

  async startKernel(number: number, env: Record<string, string> = {}): Promise<ChildProcess> {
    const kernel = this.run('bundle/kernel.js', {
      ...this.env,
      GATEHOUSE_HOME: join(this.folder, `kernel-${number}`),
      PROXY_KERNEL_CHANNEL: this.channel(number),
      PROXY_KERNEL_HEALTH_PORT: String(this.healthPorts[number - 1]),
      PROXY_KERNEL_NAME: `kernel-${number}`,
      PROXY_KERNEL_LISTEN_ADDRESS: this.address(number),
      PROXY_KERNEL_PUBLIC_HOST: `kernel-${number}.example`,
      ...env,
    });
    await waitFor(async () => (await this.health(number, '/healthz')) === 200, PATIENCE);
    return kernel;
  }

  /** @param kernels the numbers of the kernels that it looks for. */
  async startService(
    number: number,
    kernels: readonly number[],
    env: Record<string, string> = {},
  ): Promise<ChildProcess> {
    const service = this.run('bundle/main.js', {
      ...this.env,
      DATABASE_URL: this.databaseUrl,
      GATEHOUSE_HOME: join(this.folder, `service-${number}`),
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      PROXY_GATEWAY_PORT: String(this.apiPorts[number - 1]),
      PROXY_KERNEL: 'separate',
      PROXY_KERNEL_CHANNEL: kernels.map((each) => this.channel(each)).join(','),
      PROXY_KERNEL_PORT: String(this.proxyPort),
      AUTO_MIGRATE: 'true',
      ...env,
    });
    const ready = async (): Promise<boolean> => (await statusOf(`${this.root(number)}/readyz`)) === 200;
    await waitFor(ready, PATIENCE);
    return service;
  }

  /** Where a service has its console and its API. */
  root(service: number): string {
    return `http://127.0.0.1:${this.apiPorts[service - 1]}`;
  }

  health(kernel: number, path: string): Promise<number> {
    return statusOf(`http://127.0.0.1:${this.healthPorts[kernel - 1]}${path}`);
  }

  async call(service: number, method: string, path: string, body?: object): Promise<YardAnswer> {
    this.session ??= await this.logIn(service);
    const headers = { authorization: `Bearer ${this.session}`, 'content-type': 'application/json' };
    const answer = await fetch(`${this.root(service)}/api/v1${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  async kernels(service: number): Promise<KernelListResponse> {
    return (await this.call(service, 'GET', '/kernels')).body as KernelListResponse;
  }

  /** Waits until a service sees so many kernels, all with the newest configuration. */
  async untilCurrent(service: number, count: number): Promise<KernelListResponse> {
    return waitFor(async () => {
      const list = await this.kernels(service);
      const current = list.items.filter((one) => one.reachable && one.current);
      return current.length === count ? list : undefined;
    }, PATIENCE);
  }

  /** A CONNECT tunnel through one kernel, or through another listener in front of kernels; the status without one. */
  async tunnel(port: number, via: { host: string; port: number }): Promise<Socket | number> {
    const socket = connect(via.port, via.host);
    socket.on('error', () => undefined);
    socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const nothing = once(socket, 'close').then((): Buffer[] => []);
    const [head] = (await Promise.race([once(socket, 'data'), nothing])) as Buffer[];
    const status = Number(head?.toString().split(' ')[1] ?? 0);
    if (status === 200) return socket;
    socket.destroy();
    return status;
  }

  async through(kernel: number, port: number): Promise<Socket | number> {
    return this.tunnel(port, { host: this.address(kernel), port: this.proxyPort });
  }

  async end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.running.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.running].map((child) => this.end(child, 'SIGKILL')));
    await this.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private channel(kernel: number): string {
    return join(this.folder, `k${kernel}.sock`);
  }

  private async logIn(service: number): Promise<string> {
    const login = await fetch(`${this.root(service)}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password: PASSWORD }),
    });
    if (!login.ok) throw new Error(await login.text());
    return ((await login.json()) as { token: string }).token;
  }

  private run(program: string, env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(process.execPath, [fileURLToPath(new URL(program, APP))], { env, stdio: 'inherit' });
    this.running.add(child);
    return child;
  }
}

/** Sends a text over a tunnel to an echo server and returns what comes back. */
export async function echo(tunnel: Socket | number, text: string): Promise<string> {
  if (typeof tunnel === 'number') return `no tunnel: ${tunnel}`;
  if (tunnel.closed) return 'the tunnel was cut';
  const closed = once(tunnel, 'close').then(() => ['the tunnel was cut']);
  tunnel.write(text);
  const [answer] = (await Promise.race([once(tunnel, 'data'), closed])) as [Buffer | string];
  return answer.toString();
}

export async function close(tunnel: Socket | number): Promise<void> {
  if (typeof tunnel === 'number' || tunnel.destroyed) return;
  const closed = once(tunnel, 'close');
  tunnel.end();
  await closed;
}

async function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}
