import { join } from 'node:path';
import type { NewTunnelClientView, TunnelView } from '@gatehouse/contracts';
import { withClient } from '@gatehouse/persistence/server';
import { ROOT } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { serviceProgram } from '../supervisor/service-program.js';
import { KERNEL_PORT } from '../supervisor/service-list.js';
import { ServiceProcess } from '../supervisor/service-process.js';
import type { PlatformState } from '../supervisor/state-file.js';
import { AgentProcess } from '../tour/agent-process.js';
import { ApiClient } from '../tour/api-client.js';
import { EnvelopeClient, makeReadingKey } from '../tour/envelope-client.js';
import { Origin } from '../tour/origin.js';
import { fetchThroughPort } from '../tour/port-visitor.js';
import { fetchThrough } from '../tour/proxy-client.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { OwnPlatform } from '../trials/own-platform.js';
import { RedisProcess } from '../trials/redis-process.js';
import type { Clock } from '../trials/clock.js';
import { SteadyTraffic } from '../trials/steady-traffic.js';

/** Bytes of the body of each answer that goes through the proxy or a tunnel. */
const BODY_BYTES = 10_000;
const WORKERS = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'];

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

/** A platform of its own with users: through the proxy, through a tunnel, and of the open API. */
export class Stage {
  readonly streams: SteadyTraffic[] = [];
  private readonly workers = new Map<string, { process: ServiceProcess; pid: number }>();
  private tunnelReceived = 0;
  private proxyAnswered = 0;
  private tunnelId = 0;
  private agent: AgentProcess | undefined;

  private constructor(
    private readonly platform: OwnPlatform,
    readonly redis: RedisProcess | undefined,
    private readonly clock: Clock | undefined,
    private readonly origin: Origin,
  ) {}

  /** `redisProgram` absent: queues are in PostgreSQL. `home`: an empty folder. `clock`: the platform's own. */
  static async open({ home, redisProgram, clock }: StageOptions): Promise<Stage> {
    const redis = redisProgram === undefined ? undefined : await RedisProcess.start(redisProgram, home);
    const settings = {
      WORKERS: 'separate',
      ...(redis && { REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
      ...clock?.environment,
    };
    const platform = await OwnPlatform.start(home, settings).catch(async (error: unknown) => {
      await redis?.stop();
      throw error;
    });
    const stage = new Stage(platform, redis, clock, await Origin.start());
    try {
      await stage.startWorkers();
      await stage.startTraffic();
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  get home(): string {
    return this.platform.home;
  }

  get state(): PlatformState {
    return this.platform.state;
  }

  /** @throws Error where the platform has the clock of the machine. */
  readonly setClock = (offset: number): void => {
    if (this.clock === undefined) throw new Error('the platform has no clock of its own');
    this.clock.set(offset);
  };

  get isRunning(): boolean {
    return this.platform.isRunning;
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
    await this.platform.stop();
    await this.origin.close();
    await this.redis?.stop();
  }

  private async startWorkers(): Promise<void> {
    const { env } = this.platform;
    const settings = readPlatformSettings(env);
    for (const name of WORKERS) {
      const worker = new ServiceProcess({
        name: `${name} worker`,
        command: process.execPath,
        args: [serviceProgram(name, 'worker')],
        env: serviceEnvironment(env, settings, this.databaseUrl),
        cwd: ROOT,
        logFile: join(this.home, 'logs', `${name}-worker.log`),
        notify: () => undefined,
        onSpawn: (pid) => this.workers.set(name, { process: worker, pid }),
      });
      await worker.start();
    }
  }

  private async startTraffic(): Promise<void> {
    const { password, env } = this.platform;
    const urlOf = (name: string): string => this.state.services.find((service) => service.name === name)?.url ?? '';
    const port = await this.openTunnel(new ApiClient(`${urlOf('tunnel-gateway')}/api/v1`), password);
    const administrator = new EnvelopeClient(urlOf('resource-sharing'));
    const { secret: key } = await makeReadingKey(administrator, password, 'faults');
    const proxy = { host: '127.0.0.1', port: Number(env[KERNEL_PORT.variable]) };
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
    this.agent = AgentProcess.start(client);
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
    const { received } = await fetchThroughPort(port, `/bytes/${BODY_BYTES}`);
    this.tunnelReceived += received;
    return received > BODY_BYTES;
  }
}
