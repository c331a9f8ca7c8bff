import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { logInFrom, programEnvironment, reservePort, startTcpEcho, waitFor } from '@gatehouse/testing';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createMigratedDatabase } from '../support/built-service.js';

const PASSWORD = 'a-password-for-tests';
const USER = { name: 'ann', password: 'not to be read on disk' };
const PATIENCE = { timeoutMs: 30_000 };
const APP = new URL('../../apps/proxy-gateway/', import.meta.url);

/** Kernel and services as programs of their own, none the parent of another. */
class Machine implements AsyncDisposable {
  readonly apiPort: number;
  readonly proxyPort: number;
  readonly healthPort: number;
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-kernel-'));
  private readonly env: NodeJS.ProcessEnv;
  private readonly running = new Set<ChildProcess>();
  private readonly drop: () => Promise<void>;
  private session: string | undefined;

  private constructor(databaseUrl: string, drop: () => Promise<void>, ports: [number, number, number]) {
    [this.apiPort, this.proxyPort, this.healthPort] = ports;
    this.drop = drop;
    this.env = {
      ...programEnvironment(),
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
      PROXY_KERNEL_CHANNEL: join(this.folder, 'kernel.sock'),
      PROXY_KERNEL_HEALTH_PORT: String(this.healthPort),
      DATABASE_URL: databaseUrl,
    };
  }

  static async start(): Promise<Machine> {
    const database = await createMigratedDatabase('proxy-gateway');
    return new Machine(database.url, () => database.drop(), [
      await reservePort(),
      await reservePort(),
      await reservePort(),
    ]);
  }

  /** As containers start it, without bundles. */
  async startKernel(): Promise<ChildProcess> {
    const { DATABASE_URL: _notForIt, ...env } = this.env;
    const kernel = this.run('dist/kernel.js', { ...env, GATEHOUSE_HOME: join(this.folder, 'kernel') });
    await waitFor(async () => (await this.health('/healthz')) === 200, PATIENCE);
    return kernel;
  }

  async startService(): Promise<ChildProcess> {
    const service = this.run('bundle/main.js', {
      ...this.env,
      GATEHOUSE_HOME: join(this.folder, 'service'),
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      PROXY_GATEWAY_PORT: String(this.apiPort),
      PROXY_KERNEL: 'separate',
      PROXY_KERNEL_PORT: String(this.proxyPort),
      PROXY_KERNEL_USERS: `${USER.name}:${USER.password.replaceAll(' ', '-')}`,
      AUTO_MIGRATE: 'true',
    });
    await waitFor(async () => (await this.status(this.apiPort, '/readyz')) === 200, PATIENCE);
    return service;
  }

  health(path: string): Promise<number> {
    return this.status(this.healthPort, path);
  }

  /** What the kernel shows. */
  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.healthPort}/metrics`)).text();
  }

  /** A CONNECT tunnel through the proxy; the status where there is none. */
  async tunnel(port: number, password = USER.password): Promise<Socket | number> {
    const socket = connect(this.proxyPort, '127.0.0.1');
    socket.on('error', () => undefined);
    const pair = Buffer.from(`${USER.name}:${password.replaceAll(' ', '-')}`).toString('base64');
    socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic ${pair}\r\n\r\n`);
    const [head = Buffer.alloc(0)] = (await Promise.race([
      once(socket, 'data'),
      once(socket, 'close').then(() => []),
    ])) as Buffer[];
    const status = Number(head.toString().split(' ')[1] ?? 0);
    if (status === 200) return socket;
    socket.destroy();
    return status;
  }

  get databaseUrl(): string {
    return this.env['DATABASE_URL'] ?? '';
  }

  get api(): string {
    return `http://127.0.0.1:${this.apiPort}/api/v1`;
  }

  /** The administrator's, of one login: services that start again know it, and logins are limited. */
  async token(): Promise<string> {
    return (this.session ??= await this.logIn());
  }

  private async logIn(): Promise<string> {
    const login = await fetch(`${this.api}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password: PASSWORD }),
    });
    if (!login.ok) throw new Error(await login.text());
    return ((await login.json()) as { token: string }).token;
  }

  /** Lets clients of the proxy reach the API, and waits until they do. */
  async openApi(): Promise<void> {
    const raw = `AND,((IP-CIDR,127.0.0.1/32,no-resolve),(DST-PORT,${this.apiPort})),DIRECT`;
    const headers = { authorization: `Bearer ${await this.token()}`, 'content-type': 'application/json' };
    await fetch(`${this.api}/rules`, { method: 'POST', headers, body: JSON.stringify({ raw }) });
    await waitFor(async () => (await this.logInThroughProxy('127.0.0.7', PASSWORD)) === 200, PATIENCE);
  }

  logInThroughProxy(from: string, password: string): Promise<number> {
    const pair = Buffer.from(`${USER.name}:${USER.password.replaceAll(' ', '-')}`).toString('base64');
    const headers = { 'proxy-authorization': `Basic ${pair}` };
    return logInFrom({
      url: `${this.api}/auth/login`,
      body: { password },
      from,
      proxyPort: this.proxyPort,
      headers,
    });
  }

  /** Bytes up of each recorded flow to a port. */
  async recorded(port: number): Promise<number[]> {
    type Logs = { items: { target_port: number; upload: number }[] };
    const { items } = await this.get<Logs>('/traffic-logs?limit=100', await this.token());
    return items.filter((item) => item.target_port === port && item.upload > 0).map((item) => item.upload);
  }

  async get<T>(path: string, secret: string): Promise<T> {
    const answer = await fetch(`${this.api}${path}`, { headers: { authorization: `Bearer ${secret}` } });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as T;
  }

  async createWithKey(
    path: string,
    body: object,
    token: string,
  ): Promise<{ status: number; headers: Headers; answer: { id: number; key?: string } }> {
    const key = `once${path.replace('/', '-')}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key };
    const answer = await fetch(`${this.api}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, headers: answer.headers, answer: (await answer.json()) as { id: number } };
  }

  /** What `GET /logs` has of the kernel. */
  async kernelLines(): Promise<{ message: string }[]> {
    const path = '/logs?source=kernel&limit=500';
    return (await this.get<{ items: { message: string }[] }>(path, await this.token())).items;
  }

  async logged(line: string): Promise<void> {
    await waitFor(async () => (await this.kernelLines()).some(({ message }) => message === line), PATIENCE);
  }

  async end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.running.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.running].map((child) => this.end(child, 'SIGKILL')));
    await this.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private run(program: string, env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(process.execPath, [fileURLToPath(new URL(program, APP))], { env, stdio: 'inherit' });
    this.running.add(child);
    return child;
  }

  private async status(port: number, path: string): Promise<number> {
    return fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    );
  }
}

async function echo(socket: Socket | number, text: string): Promise<string> {
  if (typeof socket === 'number') return `no tunnel: ${socket}`;
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

async function close(socket: Socket | number): Promise<void> {
  if (typeof socket === 'number') return;
  socket.end();
  await once(socket, 'close');
}

const CREATIONS: [string, object][] = [
  ['/api-keys', { name: 'phone' }],
  ['/subscriptions', { name: 'crash', url: 'https://subscription.example/crash', enabled: false }],
];
/** Makes the service wait between the commit of a request and its answer. */
const WAIT = `CREATE FUNCTION public.wait_for_the_kill() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$;
  CREATE TRIGGER before_answer BEFORE UPDATE ON proxy_gateway.idempotency_keys FOR EACH ROW
    WHEN (OLD.carried_out AND NEW.sealed_answer IS NOT NULL) EXECUTE FUNCTION public.wait_for_the_kill()`;
const WAITING = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;

/** Requests under an Idempotency-Key that are committed and whose process is killed before it answers. */
async function killBeforeTheAnswers(machine: Machine, service: ChildProcess): Promise<void> {
  const database = new pg.Client({ connectionString: machine.databaseUrl });
  await database.connect();
  try {
    await database.query(WAIT);
    const token = await machine.token();
    const answers = CREATIONS.map(([path, body]) => machine.createWithKey(path, body, token).catch(() => 'none'));
    await waitFor(async () => (await database.query(`SELECT 1 ${WAITING}`)).rowCount === CREATIONS.length, PATIENCE);
    await machine.end(service, 'SIGKILL');
    expect(await Promise.all(answers)).toEqual(CREATIONS.map(() => 'none'));
    await database.query(`SELECT pg_terminate_backend(pid) ${WAITING}`);
    await database.query('DROP FUNCTION public.wait_for_the_kill() CASCADE');
  } finally {
    await database.end();
  }
}

/** Each repeat gets the answer that the request would have got, and nothing is made twice. */
async function expectTheAnswers(machine: Machine): Promise<void> {
  const token = await machine.token();
  for (const [path, body] of CREATIONS) {
    const { status, headers, answer } = await machine.createWithKey(path, body, token);
    expect([path, status, headers.get('idempotency-replayed')]).toEqual([path, 201, 'true']);
    const { items } = await machine.get<{ items: { id: number }[] }>(path, token);
    expect([path, items.map(({ id }) => id)]).toEqual([path, [answer.id]]);
    if (answer.key !== undefined) await machine.get('/rules', answer.key);
  }
}

/** Wrong passwords through the proxy, then the right one from the same place and from here. */
async function expectGuessesToCostTheGuesser(machine: Machine): Promise<void> {
  await machine.openApi();
  const guesser = '127.0.0.9';
  for (let guess = 0; guess < 5; guess += 1) expect(await machine.logInThroughProxy(guesser, 'wrong one')).toBe(401);
  expect(await machine.logInThroughProxy(guesser, PASSWORD)).toBe(429);
  expect(await machine.logInThroughProxy('127.0.0.8', PASSWORD)).toBe(200);
  await machine.token();
}

describe('a separate kernel', () => {
  it('continues while services are killed and started, and keeps its counts for them', async () => {
    await using target = await startTcpEcho();
    await using machine = await Machine.start();
    await machine.startKernel();
    expect(await machine.health('/readyz')).toBe(503);
    const first = await machine.startService();
    expect(await machine.health('/readyz')).toBe(200);
    expect(await machine.tunnel(target.port, 'a wrong one')).toBe(407);
    const lasting = await machine.tunnel(target.port);
    expect(await echo(lasting, 'one')).toBe('one');

    await expectGuessesToCostTheGuesser(machine);
    await killBeforeTheAnswers(machine, first);
    expect(await echo(lasting, 'two')).toBe('two');
    const meanwhile = await machine.tunnel(target.port);
    expect(await echo(meanwhile, 'nobody listens')).toBe('nobody listens');
    await close(meanwhile);

    const second = await machine.startService();
    expect(await echo(lasting, 'three')).toBe('three');
    await expectTheAnswers(machine);
    await waitFor(async () => (await machine.recorded(target.port)).includes('nobody listens'.length), PATIENCE);
    await machine.end(second, 'SIGTERM');
    expect(await echo(lasting, 'four')).toBe('four');
    await close(lasting);
  }, 120_000);

  it('starts again without a service, with its last configuration and its earlier records', async () => {
    await using target = await startTcpEcho();
    await using machine = await Machine.start();
    const kernel = await machine.startKernel();
    await machine.end(await machine.startService(), 'SIGTERM');
    const before = await machine.tunnel(target.port);
    expect(await echo(before, 'before the restart')).toBe('before the restart');
    await close(before);

    await machine.end(kernel, 'SIGTERM');
    await machine.startKernel();
    await waitFor(async () => (await machine.health('/readyz')) === 200, PATIENCE);
    expect(await machine.tunnel(target.port, 'a wrong one')).toBe(407);
    const after = await machine.tunnel(target.port);
    expect(await echo(after, 'after')).toBe('after');
    await close(after);
    // Its figures are there without a service, too.
    const shown = await machine.metrics();
    expect(shown).toMatch(/^gatehouse_kernel_up 1$/m);
    expect(shown).toMatch(/^gatehouse_proxy_bytes_total\{direction="download"\} 5$/m);
    const file = join(machine.folder, 'kernel', 'proxy-kernel', 'configuration.sealed');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(USER.name);

    await machine.startService();
    await waitFor(async () => (await machine.recorded(target.port)).length === 2, PATIENCE);
    expect(new Set(await machine.recorded(target.port))).toEqual(
      new Set(['before the restart'.length, 'after'.length]),
    );
    // The first line was written while there was no service, the second one is about a client without the key.
    await machine.logged('The configuration of the previous run is in use until the service connects');
    connect(join(machine.folder, 'kernel.sock'))
      .on('error', () => undefined)
      .end('no TLS');
    await machine.logged('A connection to the control channel was refused');
    expect(JSON.stringify(await machine.kernelLines())).not.toContain(USER.password.replaceAll(' ', '-'));
  }, 120_000);
});
