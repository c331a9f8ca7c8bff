import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, programEnvironment, reservePort, type TestDatabase, waitFor } from '@gatehouse/testing';
import { TunnelAgent } from '@gatehouse/tunnel-kernel';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_VERSION } from '../src/service-version.js';
import { DatabaseLine } from './support/database-line.js';
import { NewerVersion } from './support/newer-version.js';
import { ask, caller, type AnyJson } from './support/tunnel-world.js';

const MAIN = fileURLToPath(new URL('../bundle/main.js', import.meta.url));
const MIGRATE = fileURLToPath(new URL('../bundle/migrate.js', import.meta.url));

interface Run {
  child: ChildProcess;
  /** Standard error so far. */
  errors: () => string;
  /** Lines of its log so far. */
  lines: () => AnyJson[];
  /** Exit code, once it has ended. */
  exit: Promise<number | null>;
}

let database: TestDatabase;
let home: string;
let runs: Run[] = [];

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('apps/tunnel-gateway/dist is missing: run npm run build');
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'tunnel-gateway-'));
});

afterEach(async () => {
  for (const { child, exit } of runs) {
    // Killed, it would leave its edge.
    child.kill('SIGTERM');
    await exit;
  }
  runs = [];
});

afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true });
});

function run(program: string, env: Record<string, string>): Run {
  // Only this environment: what the test run itself carries must not leak in. Compiled code is no setting.
  const child = fork(program, [], { env: programEnvironment(env), silent: true, execArgv: [] });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  let log = '';
  child.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const lines = (): AnyJson[] =>
    log
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const started = { child, errors: () => errors, lines, exit };
  runs.push(started);
  return started;
}

function service(env: Record<string, string> = {}): Run {
  return run(MAIN, {
    DATABASE_URL: database.url,
    GATEHOUSE_HOME: home,
    TUNNEL_GATEWAY_PORT: '0',
    TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
    TUNNEL_AGENT_PORT: '0',
    TUNNEL_HTTP_PORT: '0',
    TUNNEL_HTTPS_PORT: '0',
    LOG_LEVEL: 'error',
    ...env,
  });
}

/** Processes of a parent, as the kernel of the system lists them. */
function edgesOf(parent = 0): number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number);
}

async function portOf({ child, exit, errors }: Run): Promise<number> {
  const message = once(child, 'message').then(([value]) => value as { type: string; port: number });
  const ended = exit.then((code): never => {
    throw new Error(`ended with ${code}: ${errors()}`);
  });
  const { type, port } = await Promise.race([message, ended]);
  expect(type).toBe('ready');
  return port;
}

describe('the built service as a process', () => {
  it('refuses an outdated database and names the command to run, until it has been run', async () => {
    const refused = service();
    expect(await refused.exit).toBe(1);
    expect(refused.errors()).toMatch(/^tunnel-gateway: the database lacks \d+ migrations .*migrate\.js.*\n$/);
    const migration = run(MIGRATE, { DATABASE_URL: database.url, GATEHOUSE_HOME: home });
    expect(await migration.exit).toBe(0);
    const started = service();
    expect(await portOf(started)).toBeGreaterThan(0);
    // Three programs, one after the other.
  }, 120_000);

  it('starts on a database of a newer version that it can work with, and leaves it as it is', async () => {
    await using own = await createTestDatabase();
    const newer = new NewerVersion(own.url, mkdtempSync(join(home, 'newer-')));
    await newer.upgrade('Grows1763668899001', SERVICE_VERSION);
    const env = { DATABASE_URL: own.url, GATEHOUSE_HOME: mkdtempSync(join(home, 'older-')), LOG_LEVEL: 'warn' };
    // Both ways: it migrates, and it only looks.
    for (const AUTO_MIGRATE of ['true', 'false']) {
      const started = service({ ...env, AUTO_MIGRATE });
      const port = await portOf(started);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      started.child.kill('SIGTERM');
      expect(await started.exit).toBe(0);
      const line = started.lines().find(({ message }) => message?.startsWith('a newer version has migrated'));
      expect(line).toMatchObject({ level: 'warn', release: '99.1.0', migrations: ['Grows1763668899001'] });
    }
    expect(await newer.functionText()).toContain('of the newer version');

    await newer.upgrade('Shrinks1763668899002', '99.0.0');
    const refused = service({ ...env, AUTO_MIGRATE: 'true' });
    expect(await refused.exit).toBe(1);
    expect(refused.errors()).toMatch(
      /^tunnel-gateway: the database has 2 migrations .*: 99\.1\.0 changed the schema, .* Start 99\.0\.0 or later, .*\n$/,
    );
    expect(await newer.functionText()).toContain('of the newer version');
  }, 120_000);

  it('migrates itself if configured, serves, and stops on SIGTERM', async () => {
    const started = service({ AUTO_MIGRATE: 'true' });
    const port = await portOf(started);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    started.child.kill('SIGTERM');
    expect(await started.exit).toBe(0);
  });

  it('stops when its parent ends', async () => {
    const started = service({ AUTO_MIGRATE: 'true' });
    await portOf(started);
    started.child.disconnect();
    expect(await started.exit).toBe(0);
  });

  it.each(['TUNNEL_AGENT_PORT', 'TUNNEL_HTTP_PORT', 'TUNNEL_HTTPS_PORT'])(
    'names %s when its port is taken',
    async (variable) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const refused = service({ AUTO_MIGRATE: 'true', [variable]: String(port) });
      expect(await refused.exit).toBe(1);
      expect(refused.errors()).toBe(
        `tunnel-gateway: ${variable}: port ${port} on 127.0.0.1 is in use by another program; ` +
          `set ${variable} to a free port\n`,
      );
      taken.close();
    },
  );

  it('leaves no worker of an edge behind', async () => {
    const started = service({ AUTO_MIGRATE: 'true', TUNNEL_EDGE_WORKERS: '2' });
    await portOf(started);
    const [supervisor] = edgesOf(started.child.pid);
    const [door] = edgesOf(supervisor);
    const workers = edgesOf(door);
    expect(workers).toHaveLength(2);
    started.child.kill('SIGTERM');
    expect(await started.exit).toBe(0);
    await waitFor(() => [supervisor ?? 0, door ?? 0, ...workers].every((pid) => !existsSync(`/proc/${pid}`)));
  });

  it('names TUNNEL_EDGE_WORKERS if it is not a number of processes', async () => {
    const refused = service({ TUNNEL_EDGE_WORKERS: '0' });
    expect(await refused.exit).toBe(1);
    expect(refused.errors()).toMatch(/TUNNEL_EDGE_WORKERS: .*from 1 to 64/);
  });

  it('names the variable of a port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const refused = service({ AUTO_MIGRATE: 'true', TUNNEL_GATEWAY_PORT: String(port) });
    expect(await refused.exit).toBe(1);
    expect(refused.errors()).toBe(
      `tunnel-gateway: TUNNEL_GATEWAY_PORT: port ${port} on 127.0.0.1 is in use by another program; ` +
        'set TUNNEL_GATEWAY_PORT to a free port\n',
    );
    taken.close();
  });

  it('lists every invalid setting on one line each', async () => {
    const refused = service({ LOG_LEVEL: 'loud', TUNNEL_GATEWAY_PROT: '1', DATABASE_URL: '' });
    expect(await refused.exit).toBe(1);
    const lines = refused.errors().trim().split('\n').sort();
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('DATABASE_URL: is not set');
    expect(lines[1]).toContain('LOG_LEVEL: "loud"');
    expect(lines[2]).toContain('perhaps TUNNEL_GATEWAY_PORT');
  });

  it('reports an unreachable database in one line', async () => {
    const DATABASE_URL = 'postgres://gate:hunter2@127.0.0.1:1/none';
    const refused = service({ DATABASE_URL, GATEHOUSE_HOME: join(home, 'never-started') });
    expect(await refused.exit).toBe(1);
    expect(refused.errors()).toBe('tunnel-gateway: DATABASE_URL: the database cannot be used, nothing listens there\n');
  });

  it('serves its tunnels while it starts without a database, and continues when it is back', async () => {
    await using own = await createTestDatabase();
    const line = await DatabaseLine.to(own.url);
    const ports = { TUNNEL_GATEWAY_PORT: String(await reservePort()), TUNNEL_AGENT_PORT: String(await reservePort()) };
    const env = {
      ...ports,
      DATABASE_URL: line.url,
      AUTO_MIGRATE: 'true',
      GATEHOUSE_HOME: mkdtempSync(join(home, 'service-')),
      GATEHOUSE_ADMIN_PASSWORD: 'correct horse battery',
    };
    const url = `http://127.0.0.1:${ports.TUNNEL_GATEWAY_PORT}`;
    const ready = async (): Promise<AnyJson> => (await fetch(`${url}/readyz`)).json();
    const first = service(env);
    await portOf(first);
    const { body: login } = await caller(url, {})('POST', '/auth/login', {
      username: 'admin',
      password: 'correct horse battery',
    });
    const call = caller(url, { authorization: `Bearer ${login.token}` });
    const { body: client } = await call('POST', '/clients', { name: 'home' });
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { body: tunnel } = await call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${(echo.address() as AddressInfo).port}`,
    });
    const agent = agentOf(Number(ports.TUNNEL_AGENT_PORT), client.key);
    await waitFor(async () => (await ask(tunnel.listen_port, 'one')) === 'one');
    const snapshot = join(env.GATEHOUSE_HOME, 'tunnel-gateway', 'snapshot.json');
    await waitFor(() => readFileSync(snapshot, 'utf8').includes('targetAddr'));
    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);

    line.cut();
    const second = service(env);
    await waitFor(async () => (await ask(tunnel.listen_port, 'two')) === 'two', { timeoutMs: 15_000 });
    // The edge is there before the port of the administration.
    const state = await waitFor(() => ready(), { timeoutMs: 15_000 });
    expect(state).toMatchObject({ status: 'unavailable', failing: ['database', 'edge'] });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await call('GET', '/clients')).body).toMatchObject({ status: 503, code: 'service_unavailable' });
    const edges = edgesOf(second.child.pid);
    line.mend();
    await portOf(second);
    await waitFor(async () => (await ready()).status === 'ok', { timeoutMs: 15_000 });
    expect(edgesOf(second.child.pid)).toEqual(edges);
    await waitFor(async () => (await call('GET', `/tunnels/${tunnel.id}`)).body.inlet_flow === 6);
    second.child.kill('SIGTERM');
    expect(await second.exit).toBe(0);

    line.cut();
    const third = service(env);
    await waitFor(async () => (await ready()).status === 'unavailable', { timeoutMs: 15_000 });
    third.child.kill('SIGTERM');
    expect(await third.exit).toBe(0);
    await agent.stop();
    echo.close();
    await line.close();
  }, 60_000);
});

function agentOf(port: number, key: string): TunnelAgent {
  const quiet = (): void => undefined;
  const agent = new TunnelAgent({
    server: { host: '127.0.0.1', port },
    key,
    now: Date.now,
    random: () => 0.1,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  agent.start();
  return agent;
}
