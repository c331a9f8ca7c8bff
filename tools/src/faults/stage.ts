import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@gatehouse/net';
import type { NewTunnelClientView, TunnelView } from '@gatehouse/contracts';
import { withClient } from '@gatehouse/persistence';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { KERNEL_PORT, SERVICES, TUNNEL_PORTS } from '../supervisor/service-list.js';
import { ServiceProcess } from '../supervisor/service-process.js';
import { readState, type PlatformState } from '../supervisor/state-file.js';
import { AgentProcess } from '../tour/agent-process.js';
import { ApiClient } from '../tour/api-client.js';
import { EnvelopeClient } from '../tour/envelope-client.js';
import { Origin } from '../tour/origin.js';
import { fetchThrough } from '../tour/proxy-client.js';
import type { Clock } from './clock.js';
import { SteadyTraffic } from './steady-traffic.js';

/** Bytes of the body of each answer that goes through the proxy or a tunnel. */
export const BODY_BYTES = 10_000;
const READY_MS = 120_000;
/** Redis's own name for what it saves. */
const DUMP = 'dump.rdb';
const WORKERS = ['proxy-gateway', 'tunnel-gateway'];

/** A Redis that the platform uses, started and emptied at will. */
export class RedisProcess {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** `folder`: where it keeps what it writes. */
  static async start(program: string, folder: string): Promise<RedisProcess> {
    const redis = new RedisProcess(program, folder, await freePort());
    await redis.start();
    return redis;
  }

  async start(): Promise<void> {
    const options = ['--save', '', '--appendonly', 'no', '--dir', this.folder];
    const args = ['--port', `${this.port}`, '--bind', '127.0.0.1', ...options];
    this.child = spawn(this.program, args, { stdio: 'ignore' });
    const answers = await eventuallyTrue(async () => (await this.command('PING')).startsWith('+PONG'));
    if (!answers) throw new PlainFailure(`${this.program} did not start.`);
  }

  /** Everything it held is lost. */
  async stop(): Promise<void> {
    await this.end((child) => child.kill('SIGKILL'));
    rmSync(join(this.folder, DUMP), { force: true });
  }

  /** It comes back with everything it held. */
  async park(): Promise<void> {
    await this.end(() => void this.command('SHUTDOWN SAVE'));
  }

  private async end(how: (child: ChildProcess) => unknown): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    how(child);
    await gone;
  }

  async command(line: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`${line}\r\n`);
    try {
      const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(2_000) })) as [Buffer];
      return answer.toString();
    } catch {
      return '';
    } finally {
      socket.destroy();
    }
  }
}

/** What has moved, as users' sockets and as the database have it. */
export interface Counters {
  tunnelReceived: number;
  tunnelCounted: number;
  proxyAnswered: number;
  proxyLogged: number;
}

export interface StageOptions {
  home: string;
  redisProgram: string | undefined;
  clock?: Clock | undefined;
}

interface StageParts {
  home: string;
  clock: Clock | undefined;
  env: NodeJS.ProcessEnv;
  launcher: ChildProcess;
  redis: RedisProcess | undefined;
  origin: Origin;
}

/** A platform of its own with users: through the proxy, through a tunnel, and of the open API. */
export class Stage {
  readonly home: string;
  readonly redis: RedisProcess | undefined;
  readonly streams: SteadyTraffic[] = [];
  private readonly clock: Clock | undefined;
  private readonly env: NodeJS.ProcessEnv;
  private readonly launcher: ChildProcess;
  private readonly origin: Origin;
  private readonly workers = new Map<string, { process: ServiceProcess; pid: number }>();
  private tunnelReceived = 0;
  private proxyAnswered = 0;
  private tunnelId = 0;
  private agent: AgentProcess | undefined;

  private constructor({ home, clock, env, launcher, redis, origin }: StageParts) {
    [this.home, this.clock, this.env] = [home, clock, env];
    [this.launcher, this.redis, this.origin] = [launcher, redis, origin];
  }

  /** `redisProgram` absent: queues are in PostgreSQL. `home`: an empty folder. `clock`: the platform's own. */
  static async open({ home, redisProgram, clock }: StageOptions): Promise<Stage> {
    const redis = redisProgram === undefined ? undefined : await RedisProcess.start(redisProgram, home);
    const env = { ...(await environment(home, redis)), ...clock?.environment };
    const launcher = spawn(process.execPath, [join(ROOT, 'tools/up.mjs')], {
      env,
      // It stops when this process is gone, however it ended.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const stage = new Stage({ home, clock, env, launcher, redis, origin: await Origin.start() });
    try {
      await stage.awaitReady();
      await stage.startWorkers();
      await stage.startTraffic();
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  get state(): PlatformState {
    const state = readState(this.home);
    if (state === undefined) throw new Error('the platform is gone');
    return state;
  }

  /** @throws Error where the platform has the clock of the machine. */
  readonly setClock = (offset: string): void => {
    if (this.clock === undefined) throw new Error('the platform has no clock of its own');
    this.clock.set(offset);
  };

  get isRunning(): boolean {
    return this.launcher.exitCode === null && this.launcher.signalCode === null;
  }

  get worker(): number | undefined {
    return this.workers.get('tunnel-gateway')?.pid;
  }

  get databaseUrl(): string {
    return this.state.databaseUrl ?? '';
  }

  /** Names of what /readyz of any service calls failing or degraded; a service without an answer by its own name. */
  async unready(): Promise<string[]> {
    const reports = this.state.services.map(async ({ name, url }) => {
      try {
        const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
        const report = (await response.json()) as { failing?: string[]; degraded?: string[] };
        return [...(report.failing ?? []), ...(report.degraded ?? [])];
      } catch {
        return [name];
      }
    });
    return [...new Set((await Promise.all(reports)).flat())];
  }

  async counters(): Promise<Counters> {
    const sql = `SELECT (SELECT export_flow FROM tunnel_gateway.tunnels WHERE id = $1)::float8 AS tunnel,
      (SELECT count(*) FROM proxy_gateway.traffic_logs WHERE download >= $2)::float8 AS proxy`;
    const [row] = await withClient(this.databaseUrl, async (client) => {
      const { rows } = await client.query<{ tunnel: number; proxy: number }>(sql, [this.tunnelId, BODY_BYTES]);
      return rows;
    });
    const { tunnelReceived, proxyAnswered } = this;
    return { tunnelReceived, tunnelCounted: row?.tunnel ?? 0, proxyAnswered, proxyLogged: row?.proxy ?? 0 };
  }

  async close(): Promise<void> {
    await Promise.all(this.streams.map((stream) => stream.stop()));
    await this.agent?.stop();
    await Promise.all([...this.workers.values()].map(({ process: worker }) => worker.stop(5_000)));
    if (this.isRunning) {
      const gone = once(this.launcher, 'exit');
      this.launcher.kill('SIGTERM');
      // With the channel open it would not end.
      this.launcher.disconnect();
      await gone;
    }
    await this.origin.close();
    await this.redis?.stop();
  }

  private async awaitReady(): Promise<void> {
    let output = '';
    for (const stream of [this.launcher.stdout, this.launcher.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-8_000)));
    }
    await eventuallyTrue(() => Promise.resolve(output.includes('Ready in') || !this.isRunning), READY_MS);
    if (!this.isRunning) throw new PlainFailure('the platform did not start:', { advice: output.trim().split('\n') });
  }

  private async startWorkers(): Promise<void> {
    const settings = readPlatformSettings(this.env);
    for (const name of WORKERS) {
      const worker = new ServiceProcess({
        name: `${name} worker`,
        command: process.execPath,
        args: [join(ROOT, 'apps', name, 'dist/worker.js')],
        env: serviceEnvironment(this.env, settings, this.databaseUrl),
        cwd: ROOT,
        logFile: join(this.home, 'logs', `${name}-worker.log`),
        notify: () => undefined,
        onSpawn: (pid) => this.workers.set(name, { process: worker, pid }),
      });
      await worker.start();
    }
  }

  private async startTraffic(): Promise<void> {
    const password = readFileSync(join(this.home, 'first-login.txt'), 'utf8').trim();
    const urlOf = (name: string): string => this.state.services.find((service) => service.name === name)?.url ?? '';
    const port = await this.openTunnel(new ApiClient(`${urlOf('tunnel-gateway')}/api/v1`), password);
    const key = await openApiKey(urlOf('resource-sharing'), password);
    const proxy = { host: '127.0.0.1', port: Number(this.env[KERNEL_PORT.variable]) };
    const target = new URL(`http://127.0.0.1:${this.origin.port}/bytes/${BODY_BYTES}`);
    this.streams.push(
      new SteadyTraffic('proxied requests', 50, async () => {
        const { status, bytes } = await fetchThrough('http', proxy, target);
        const ok = status === 200 && bytes === BODY_BYTES;
        if (ok) this.proxyAnswered += 1;
        return ok;
      }),
      new SteadyTraffic('tunnel visitors', 50, () => this.visit(port)),
      new SteadyTraffic('open-API calls', 200, async () => {
        const headers = { 'x-api-key': key };
        const signal = AbortSignal.timeout(30_000);
        const response = await fetch(`${urlOf('resource-sharing')}/api/open/ping`, { headers, signal });
        await response.arrayBuffer();
        return response.ok;
      }),
    );
    await eventuallyTrue(() => Promise.resolve(this.streams.every((stream) => stream.isWell())), 60_000);
  }

  private async openTunnel(api: ApiClient, password: string): Promise<number> {
    await api.login(password, 'admin');
    const client = await api.call<NewTunnelClientView>('POST', '/clients', { name: 'faults' });
    const server = /--server (\S+)/.exec(client.command)?.[1] ?? '';
    this.agent = AgentProcess.start(server, client.key);
    const { id } = await api.call<TunnelView>('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: 0,
      target_addr: `127.0.0.1:${this.origin.port}`,
    });
    this.tunnelId = id;
    const running = async (): Promise<TunnelView> => api.call<TunnelView>('GET', `/tunnels/${id}`);
    await eventuallyTrue(async () => (await running()).run_status === 1, 30_000);
    return (await running()).listen_port;
  }

  private async visit(port: number): Promise<boolean> {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(`GET /bytes/${BODY_BYTES} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    await once(socket, 'close', { signal: AbortSignal.timeout(30_000) }).catch(() => socket.destroy());
    this.tunnelReceived += socket.bytesRead;
    return socket.bytesRead > BODY_BYTES;
  }
}

async function openApiKey(base: string, password: string): Promise<string> {
  const administrator = new EnvelopeClient(base);
  await administrator.call('POST', '/api/site/login', { username: 'admin', password });
  const made = await administrator.call<{ secret: string }>('POST', '/api/site/keys', {
    name: 'faults',
    scopes: ['meta', 'query'],
    current_password: password,
  });
  return made.secret;
}

async function environment(home: string, redis: RedisProcess | undefined): Promise<NodeJS.ProcessEnv> {
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    GATEHOUSE_HOME: home,
    WORKERS: 'separate',
    TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
    ...(redis && { REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
  };
  const variables = [...SERVICES.map(({ portVariable }) => portVariable), ...TUNNEL_PORTS.map((port) => port.variable)];
  for (const variable of [...variables, KERNEL_PORT.variable]) env[variable] = String(await freePort());
  return env;
}

/** An empty folder that PostgreSQL's own account can reach. */
export function makeHome(): { home: string; remove: () => void } {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-faults-'));
  chmodSync(home, 0o711);
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** Resolves to whether it became true in time. */
export async function eventuallyTrue(condition: () => Promise<boolean>, timeoutMs = 30_000): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    if (await condition().catch(() => false)) return true;
    if (performance.now() > end) return false;
    await delay(100);
  }
}
