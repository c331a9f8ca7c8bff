import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@gatehouse/net';
import { withClient } from '@gatehouse/persistence/server';
import { ROOT } from '../../bootstrap/layout.mjs';
import { ServiceProcess } from '../supervisor/service-process.js';
import { started } from '../trials/started.js';
import { PostgresCarrier } from './postgres-carrier.js';

export const SERVICE_NAMES = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** The password of the first administrators. */
export const ADMINISTRATOR_PASSWORD = 'correct horse battery';
const STOP_MS = 20_000;

/** What its clients know of a process of a service, or of several behind one address. */
export interface Entrance {
  service: ServiceName;
  url: string;
}

/** Where a database and the services on it are: all that simulated users need to know. */
export interface Entrances {
  readonly options: Pick<ReplicaSetOptions, 'databaseUrl' | 'services'>;
  of(service: ServiceName): readonly Entrance[];
}

/** One process of a service, with a way to the database that is its own. */
export interface Replica extends Entrance {
  index: number;
  database: PostgresCarrier;
}

export interface ReplicaSetOptions {
  /** Connection string of an empty database, for a role that owns it. */
  databaseUrl: string;
  /** An empty folder. */
  home: string;
  services: readonly ServiceName[];
  /** Absent: queues are in PostgreSQL. */
  redisUrl?: string | undefined;
  /** More for every process. */
  environment?: NodeJS.ProcessEnv | undefined;
}

/** Two processes of each service on one database, as two machines behind a load balancer run them. */
export class ReplicaSet implements AsyncDisposable, Entrances {
  readonly replicas: Replica[] = [];
  private readonly processes: ServiceProcess[] = [];
  private readonly shared: NodeJS.ProcessEnv;
  private readonly tunnelPorts: NodeJS.ProcessEnv = {};

  private constructor(readonly options: ReplicaSetOptions) {
    this.shared = {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
      GATEHOUSE_ADMIN_PASSWORD: ADMINISTRATOR_PASSWORD,
      AUTO_MIGRATE: 'true',
      API_RATE_LIMIT: '0',
      LOG_LEVEL: 'info',
      SITE_REGISTRATIONS_PER_HOUR: '10000',
      // Its days change with those of the partitions.
      RESOURCE_SHARING_TIME_ZONE: 'UTC',
      ...(options.redisUrl !== undefined && { REDIS_URL: options.redisUrl }),
      ...options.environment,
    };
  }

  static async start(options: ReplicaSetOptions): Promise<ReplicaSet> {
    const set = new ReplicaSet(options);
    return started(set, async () => {
      // The first of each migrates; the second then starts as it does beside one that serves.
      for (const index of [0, 1])
        await Promise.all(options.services.map((service) => set.startReplica(service, index)));
      if (options.services.includes('resource-sharing')) await liftLimits(options.databaseUrl);
    });
  }

  of(service: ServiceName): readonly Replica[] {
    return this.replicas.filter((replica) => replica.service === service);
  }

  /** The carriers of one side: what one machine sees of the database. */
  databasesOf(index: number): PostgresCarrier[] {
    return this.replicas.filter((replica) => replica.index === index).map(({ database }) => database);
  }

  /** Names of what /readyz of any replica calls failing; one without an answer by its own name. */
  async unready(): Promise<string[]> {
    const reports = this.replicas.map(async ({ service, index, url }) => {
      const name = `${service} ${index + 1}`;
      try {
        const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
        const { failing = [] } = (await response.json()) as { failing?: string[] };
        return failing.map((what) => `${name}: ${what}`);
      } catch {
        return [name];
      }
    });
    return (await Promise.all(reports)).flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop(STOP_MS)));
    await Promise.all(this.replicas.map(({ database }) => database[Symbol.asyncDispose]()));
  }

  private async startReplica(service: ServiceName, index: number): Promise<void> {
    const database = await PostgresCarrier.start(this.options.databaseUrl);
    const replica = { service, index, url: '', database };
    this.replicas.push(replica);
    const env = { ...this.shared, DATABASE_URL: database.url, ...(await this.environmentOf(service)) };
    if (service === 'tunnel-gateway' && index === 0) this.startEdge(env);
    const port = await this.spawn(`${service} ${index + 1}`, join(service, 'dist/main.js'), env);
    replica.url = `http://127.0.0.1:${port}`;
  }

  /** The edge is one program; both replicas of its administration reach it. It is ready when the first of them has migrated. */
  private startEdge(env: NodeJS.ProcessEnv): void {
    const direct = { ...env, DATABASE_URL: this.options.databaseUrl };
    this.spawn('edge', 'tunnel-gateway/dist/edge.js', direct).catch(() => undefined);
  }

  private async environmentOf(service: ServiceName): Promise<NodeJS.ProcessEnv> {
    switch (service) {
      case 'proxy-gateway':
        return { PROXY_GATEWAY_PORT: '0', PROXY_KERNEL_PORT: String(await freePort()) };
      case 'resource-sharing':
        return { RESOURCE_SHARING_PORT: '0', RESOURCE_SHARING_PUBLIC_URL: 'http://127.0.0.1:8081' };
      case 'tunnel-gateway':
        return { TUNNEL_GATEWAY_PORT: '0', ...(await this.environmentOfTunnels()) };
    }
  }

  private async environmentOfTunnels(): Promise<NodeJS.ProcessEnv> {
    if (this.tunnelPorts['TUNNEL_EDGE'] === undefined) {
      Object.assign(this.tunnelPorts, {
        TUNNEL_EDGE: 'separate',
        TUNNEL_EDGE_CHANNEL: `127.0.0.1:${await freePort()}`,
        TUNNEL_EDGE_HEALTH_PORT: String(await freePort()),
        TUNNEL_LISTEN_ADDRESS: '127.0.0.1',
        TUNNEL_AGENT_PORT: String(await freePort()),
        TUNNEL_HTTP_PORT: String(await freePort()),
        TUNNEL_HTTPS_PORT: String(await freePort()),
      });
    }
    return this.tunnelPorts;
  }

  /** Its port, when it says that it is ready. */
  private async spawn(name: string, program: string, env: NodeJS.ProcessEnv): Promise<number> {
    const folder = name.replaceAll(' ', '-');
    const home = join(this.options.home, folder);
    mkdirSync(home, { recursive: true });
    const service = new ServiceProcess({
      name,
      command: process.execPath,
      args: [join(ROOT, 'apps', program)],
      env: { ...env, GATEHOUSE_HOME: home },
      cwd: ROOT,
      logFile: join(this.options.home, `${folder}.log`),
      notify: () => undefined,
      onSpawn: () => undefined,
    });
    this.processes.push(service);
    return service.start();
  }
}

/**
 * The users of a sweep do more at once than any user may, but what each uses of a day's quota is still counted. Before the
 * first request: limits are kept for a while.
 */
export async function liftLimits(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query('SET search_path = resource_sharing');
    await client.query(`UPDATE risk_settings SET unlocks_per_minute = 1000000, unlocks_per_hour = 1000000, hits = 100,
      paid_unlocks_per_hour = 1000, unseen_sample = 1000`);
    await client.query(`UPDATE quota_profiles SET app_per_minute = NULL, app_burst_per_second = NULL,
      app_address_per_minute = NULL, user_per_minute = NULL, app_per_day = NULL, user_per_day = 1000000,
      addresses_per_day = NULL, group_per_minute = '{}', endpoint_per_day = '{}'`);
  });
}
