import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withClient } from '@gatehouse/persistence';
import { createTestDatabase, programEnvironment, reservePort, type TestDatabase, waitFor } from '@gatehouse/testing';
import { TunnelAgent, type AgentStatus } from '@gatehouse/tunnel-kernel';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SteadyTransfer } from './support/steady-transfer.js';
import { ask, caller, type AnyJson, type Caller } from './support/tunnel-world.js';

const MAIN = fileURLToPath(new URL('../bundle/main.js', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('support/service-launcher.mjs', import.meta.url));
const PASSWORD = 'correct horse battery';
const PATIENT = { timeoutMs: 30_000 };
const quiet = (): void => undefined;

interface ServiceMessage {
  type: 'ready' | 'failed' | 'exit';
  port?: number;
  pid: number;
  code?: number | null;
  lines?: string[];
}

/** The built service with something that started it, as people run it. */
class Platform {
  readonly env: Record<string, string>;
  readonly launcher: ChildProcess;
  private readonly messages: ServiceMessage[] = [];
  pid = 0;
  call: Caller = () => Promise.reject(new Error('not started'));

  private constructor(env: Record<string, string>) {
    this.env = env;
    this.launcher = fork(LAUNCHER, [MAIN], { execArgv: [] });
    this.launcher.on('message', (message: ServiceMessage) => this.messages.push(message));
  }

  static async start(env: Record<string, string>): Promise<Platform> {
    const platform = new Platform(env);
    await platform.service();
    return platform;
  }

  /** Starts the service, again too. */
  async service(more: Record<string, string> = {}): Promise<void> {
    this.launcher.send({ start: { ...this.env, ...more } });
    const { type, port, pid, lines } = await this.next();
    if (type !== 'ready') throw new Error(lines?.join('\n') ?? type);
    this.pid = pid;
    const url = `http://127.0.0.1:${port}`;
    const login = { username: 'admin', password: PASSWORD };
    const { token } = (await caller(url, {})('POST', '/auth/login', login)).body;
    this.call = caller(url, { authorization: `Bearer ${token}` });
  }

  /** Ends the service with a signal. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    process.kill(this.pid, signal);
    return (await this.next()).code ?? null;
  }

  async next(): Promise<ServiceMessage> {
    await waitFor(() => this.messages.length > 0, { timeoutMs: 60_000 });
    return this.messages.shift() as ServiceMessage;
  }

  /** Supervisors and edges of this home. After their service was killed they have no parent. */
  processes(): number[] {
    return processesWith(this.env['GATEHOUSE_HOME'] ?? '');
  }
}

/** Processes of a home, supervisors first: they have its file for errors open, and edges have it from them. */
function processesWith(folder: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => standardErrorOf(pid).startsWith(`${folder}/`)).sort((one, other) => one - other);
}

function standardErrorOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/2`);
  } catch {
    // It has ended, or the pid belongs to another process.
    return '';
  }
}

let database: TestDatabase;
let home: string;
let platform: Platform;
let agent: TunnelAgent;
let history: AgentStatus[];
let target: Server;
let client: AnyJson;
let tunnel: AnyJson;

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('apps/tunnel-gateway/dist is missing: run npm run build');
  target = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', quiet).pipe(socket));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
});
afterAll(() => {
  target.close();
});

beforeEach(async () => {
  database = await createTestDatabase();
  home = mkdtempSync(join(tmpdir(), 'outlives-'));
});
afterEach(async () => {
  await agent.stop();
  platform.launcher.kill('SIGKILL');
  // The service writes into its home, too, until it is gone.
  await waitFor(() => processesWith(home).length === 0 && !existsSync(`/proc/${platform.pid}`), PATIENT);
  rmSync(home, { recursive: true, force: true });
  await database.drop();
});

/** A platform with an agent, a tunnel, and a visitor who never stops talking. */
async function busy(env: Record<string, string> = {}): Promise<SteadyTransfer> {
  const agents = await reservePort();
  platform = await Platform.start({
    ...programEnvironment(),
    DATABASE_URL: database.url,
    GATEHOUSE_HOME: home,
    GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
    AUTO_MIGRATE: 'true',
    LOG_LEVEL: 'error',
    TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
    TUNNEL_GATEWAY_PORT: String(await reservePort()),
    TUNNEL_AGENT_PORT: String(agents),
    TUNNEL_HTTP_PORT: '0',
    TUNNEL_HTTPS_PORT: '0',
    ...env,
  });
  client = (await platform.call('POST', '/clients', { name: 'home' })).body;
  history = [];
  agent = new TunnelAgent({
    server: { host: '127.0.0.1', port: agents },
    key: client.key,
    now: Date.now,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    events: { status: (status) => history.push(status) },
  });
  agent.start();
  tunnel = (
    await platform.call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${(target.address() as AddressInfo).port}`,
    })
  ).body;
  await waitFor(async () => (await ask(tunnel.listen_port, 'first')) === 'first', PATIENT);
  return new SteadyTransfer(tunnel.listen_port);
}

async function counted(): Promise<number> {
  return withClient(database.url, async (connection) => {
    const sql = 'SELECT inlet_flow FROM tunnel_gateway.tunnels WHERE id = $1';
    return Number((await connection.query<{ inlet_flow: string }>(sql, [tunnel.id])).rows[0]?.inlet_flow);
  });
}

const edgeStatus = async (): Promise<AnyJson> => (await platform.call('GET', `/clients/${client.id}`)).body;

describe('an edge whose service is killed', () => {
  it.each(['1', '2'])(
    'keeps serving and counting, and is taken over by the next service (%s workers)',
    async (workers) => {
      const visitor = await busy({ TUNNEL_EDGE_WORKERS: workers });
      const before = platform.processes();
      expect(before).toHaveLength(workers === '1' ? 2 : 4);
      await platform.end('SIGKILL');
      const [met, moved] = [history.length, visitor.received];
      for (let count = 0; count < 50; count += 1) expect(await ask(tunnel.listen_port, 'new')).toBe('new');
      await waitFor(() => visitor.received > moved + 20_000, PATIENT);
      const base = await counted();
      await waitFor(async () => (await counted()) > base, PATIENT);

      await platform.service();
      expect(platform.processes()).toEqual(before);
      expect((await edgeStatus()).online).toBe(true);
      const listed = (await platform.call('GET', `/clients/${client.id}/connections`)).body;
      expect(listed.total).toBe(1);
      expect(visitor.ended).toBe(false);
      expect(history.slice(met)).toEqual([]);
      // What the new one says is done.
      await platform.call('PATCH', `/tunnels/${tunnel.id}`, { status: 0 });
      await waitFor(async () => (await ask(tunnel.listen_port, 'x')) === null, PATIENT);
      expect((await platform.call('POST', `/clients/${client.id}/kick`)).status).toBe(204);
      await waitFor(() => history.length > met, PATIENT);
      visitor.stop();
      expect(await platform.end('SIGTERM')).toBe(0);
      await waitFor(() => platform.processes().length === 0, PATIENT);
    },
    90_000,
  );

  it('is replaced by a service with other settings, without cutting a visitor', async () => {
    const visitor = await busy();
    const [supervisor] = platform.processes();
    const before = platform.processes();
    await platform.end('SIGKILL');
    await platform.service({ TRUSTED_PROXIES: '10.1.0.0/16' });
    // The visitor stays with the edge that has it.
    await waitFor(() => platform.processes().length === 3, PATIENT);
    expect(platform.processes()).toEqual(expect.arrayContaining([...before, supervisor]));
    const moved = visitor.received;
    await waitFor(() => visitor.received > moved + 20_000, PATIENT);
    expect(visitor.ended).toBe(false);
    visitor.stop();
  }, 60_000);

  it('survives a service that cannot start', async () => {
    const visitor = await busy();
    await platform.end('SIGKILL');
    const port = platform.env['TUNNEL_GATEWAY_PORT'];
    const taken = createServer().listen(Number(port), '127.0.0.1');
    await once(taken, 'listening');
    await expect(platform.service()).rejects.toThrow(`port ${port}`);
    await platform.next();
    await new Promise((resolve) => taken.close(resolve));
    expect(await ask(tunnel.listen_port, 'still')).toBe('still');
    await platform.service();
    expect(visitor.ended).toBe(false);
    visitor.stop();
  }, 60_000);

  it('ends with the process that started the service', async () => {
    const visitor = await busy();
    await platform.end('SIGKILL');
    expect(platform.processes()).toHaveLength(2);
    platform.launcher.kill('SIGKILL');
    await waitFor(() => platform.processes().length === 0, PATIENT);
    visitor.stop();
  }, 60_000);

  it('ends when its home is deleted', async () => {
    const visitor = await busy();
    await platform.end('SIGKILL');
    const pids = platform.processes();
    rmSync(join(home, 'tunnel-gateway'), { recursive: true });
    await waitFor(() => pids.every((pid) => !existsSync(`/proc/${pid}`)), PATIENT);
    visitor.stop();
  }, 60_000);
});

describe('a service', () => {
  it('ends on SIGHUP and leaves its edge to the next service', async () => {
    const visitor = await busy();
    const before = platform.processes();
    expect(await platform.end('SIGHUP')).toBe(0);
    expect(platform.processes()).toEqual(before);
    await platform.service();
    expect(platform.processes()).toEqual(before);
    expect(visitor.ended).toBe(false);
    visitor.stop();
  }, 60_000);

  it('ends with its edge when its launcher is killed', async () => {
    const visitor = await busy();
    const pids = [...platform.processes(), platform.pid];
    platform.launcher.kill('SIGKILL');
    await waitFor(() => pids.every((pid) => !existsSync(`/proc/${pid}`)), PATIENT);
    visitor.stop();
  }, 60_000);

  it('restarts both when its edge loses its supervisor', async () => {
    (await busy()).stop();
    const [supervisor] = platform.processes();
    process.kill(supervisor ?? 0, 'SIGKILL');
    await waitFor(() => !platform.processes().includes(supervisor ?? 0), PATIENT);
    await waitFor(async () => (await ask(tunnel.listen_port, 'again')) === 'again', PATIENT);
  }, 60_000);
});
