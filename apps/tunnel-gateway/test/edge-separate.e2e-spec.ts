import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, programEnvironment, reservePort, type TestDatabase, waitFor } from '@gatehouse/testing';
import { TunnelAgent } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReadinessWatch } from './support/readiness-watch.js';
import { SteadyTransfer } from './support/steady-transfer.js';
import { ask, caller, type AnyJson, type Caller } from './support/tunnel-world.js';

/** The service as `npm start` runs it; the others as containers do. */
const program = (name: string): string =>
  fileURLToPath(new URL(`../${name === 'main' ? 'bundle' : 'dist'}/${name}.js`, import.meta.url));
const PASSWORD = 'correct horse battery';
const PATIENT = { timeoutMs: 30_000 };
/** Half of the time for which the service waits for an edge: a busy machine may take longer than all of it to start one. */
const HELD_MS = 5_000;
const quiet = (): void => undefined;

let database: TestDatabase;
let folder: string;
let target: Server;
let env: Record<string, string>;
let ports: { channel: number; health: number; agents: number };
const programs: ChildProcess[] = [];

interface Started {
  child: ChildProcess;
  errors(): string;
  /** Its first message. */
  message: Promise<AnyJson>;
  exit: Promise<number | null>;
}

/** Each with a home of its own, as containers have. */
function start(name: 'main' | 'edge' | 'migrate', more: Record<string, string> = {}): Started {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  const child = fork(program(name), [], { env: { ...env, GATEHOUSE_HOME: home, ...more }, silent: true, execArgv: [] });
  programs.push(child);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdout?.resume();
  const message = once(child, 'message').then(([value]) => value as AnyJson);
  return { child, errors: () => errors, message, exit: once(child, 'exit').then(([code]) => code as number | null) };
}

async function service(): Promise<Started & { call: Caller; url: string }> {
  const started = start('main', { TUNNEL_EDGE: 'separate', TUNNEL_EDGE_CHANNEL: `127.0.0.1:${ports.channel}` });
  const { type, port, lines } = await started.message;
  if (type !== 'ready') throw new Error(lines);
  const url = `http://127.0.0.1:${port}`;
  const { token } = (await caller(url, {})('POST', '/auth/login', { username: 'admin', password: PASSWORD })).body;
  return { ...started, url, call: caller(url, { authorization: `Bearer ${token}` }) };
}

const health = async (path: string): Promise<{ status: number; body: AnyJson }> => {
  const response = await fetch(`http://127.0.0.1:${ports.health}${path}`);
  return { status: response.status, body: await response.json() };
};

beforeAll(async () => {
  if (!existsSync(program('edge'))) throw new Error('apps/tunnel-gateway/dist is missing: run npm run build');
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'separate-'));
  ports = { channel: await reservePort(), health: await reservePort(), agents: await reservePort() };
  env = {
    ...programEnvironment(),
    DATABASE_URL: database.url,
    GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
    GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
    TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
    TUNNEL_GATEWAY_PORT: '0',
    TUNNEL_AGENT_PORT: String(ports.agents),
    TUNNEL_HTTP_PORT: '0',
    TUNNEL_HTTPS_PORT: '0',
    TUNNEL_EDGE_HEALTH_PORT: String(ports.health),
    TUNNEL_EDGE_CHANNEL: `127.0.0.1:${ports.channel}`,
  };
  target = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', quiet).pipe(socket));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
}, 60_000);
afterAll(async () => {
  for (const child of programs) child.kill('SIGKILL');
  target.close();
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

describe('a separate edge', () => {
  it('waits for the database, serves without a service, and is administered over the network', async () => {
    const edge = start('edge');
    expect(await start('migrate').exit).toBe(0);
    // On a busy machine the migrations take longer than it waits for them before it says so.
    expect(await edge.message).toMatchObject({ type: 'ready' });
    await waitFor(async () => (await health('/readyz')).status === 200, PATIENT);
    expect((await health('/readyz')).body).toEqual({ status: 'ok', problems: [] });
    expect((await health('/healthz')).status).toBe(200);

    const first = await service();
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    const { body: client } = await first.call('POST', '/clients', { name: 'home' });
    const agent = agentOf(client.key);
    const { body: tunnel } = await first.call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${(target.address() as AddressInfo).port}`,
    });
    await waitFor(async () => (await ask(tunnel.listen_port, 'one')) === 'one', PATIENT);
    const visitor = new SteadyTransfer(tunnel.listen_port);

    // A service that is stopped, for example by an upgrade of its image, does not affect the edge.
    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);
    expect(await ask(tunnel.listen_port, 'two')).toBe('two');
    const second = await service();
    expect((await second.call('GET', `/clients/${client.id}/connections`)).body.total).toBe(1);

    // The edge shows its figures on its health port, and the service does not repeat them.
    const metricsAt = async (base: string): Promise<string> => (await fetch(`${base}/metrics`)).text();
    expect(await metricsAt(`http://127.0.0.1:${ports.health}`)).toMatch(/^gatehouse_tunnel_agents_online 1$/m);
    expect(await metricsAt(second.url)).not.toContain('gatehouse_tunnel_agents_online');

    // The data plane is renewed by either's signal.
    for (const renewed of [edge.child, second.child]) {
      const moved = visitor.received;
      renewed.kill('SIGUSR2');
      await waitFor(() => visitor.received > moved + 20_000, PATIENT);
      expect(await ask(tunnel.listen_port, 'three')).toBe('three');
    }
    expect((await second.call('POST', `/clients/${client.id}/kick`)).status).toBe(204);
    await waitFor(() => visitor.ended, PATIENT);

    // Another program takes its place: the service waits for it, and is not ready only where none comes.
    const connections = async (): Promise<number> =>
      (await second.call('GET', `/clients/${client.id}/connections`)).status;
    const watch = await ReadinessWatch.begin(second.url);
    const ended = performance.now();
    edge.child.kill('SIGTERM');
    expect(await edge.exit).toBe(0);
    const again = start('edge');
    await again.message;
    await waitFor(async () => (await connections()) === 200, PATIENT);
    expect(await watch.end(ended + HELD_MS)).toEqual([]);
    again.child.kill('SIGTERM');
    expect(await again.exit).toBe(0);
    expect(await connections()).toBe(503);
    await waitFor(async () => (await fetch(`${second.url}/readyz`)).status === 503, PATIENT);
    await agent.stop();
  }, 240_000);

  it('reports invalid settings in one line', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const refused = start('edge', {
      GATEHOUSE_HOME: join(folder, 'other'),
      TUNNEL_EDGE_CHANNEL: `127.0.0.1:${port}`,
      TUNNEL_AGENT_PORT: '0',
    });
    expect(await refused.exit).toBe(1);
    expect(refused.errors()).toBe('tunnel-gateway edge: TUNNEL_EDGE_CHANNEL: cannot be listened on (EADDRINUSE)\n');
    const wrong = start('edge', { TUNNEL_EDGE_CHANNEL: 'somewhere' });
    expect(await wrong.exit).toBe(1);
    expect(wrong.errors()).toMatch(/TUNNEL_EDGE_CHANNEL: .*host:port such as tunnel-edge:8025/);
    taken.close();
  }, 60_000);
});

function agentOf(key: string): TunnelAgent {
  const agent = new TunnelAgent({
    server: { host: '127.0.0.1', port: ports.agents },
    key,
    now: Date.now,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  agent.start();
  return agent;
}
