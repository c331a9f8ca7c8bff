import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { createSecretBox, loadSecretKey, pgPool } from '@gatehouse/persistence';
import { AppError, HealthRegistry, JsonLogger, StartError } from '@gatehouse/platform';
import type { AgentState, TunnelState } from '@gatehouse/tunnel-kernel';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TunnelGatewaySettings } from '../settings.js';
import type {
  ConnectionList,
  EdgeCalls,
  EdgeLogEntry,
  EdgeMethod,
  EdgeOptions,
  EdgePorts,
  EdgeStatus,
} from './edge-ipc.js';
import { EdgeLauncher } from './edge-launcher.js';
import { EdgeUnavailableError } from './edge-process.js';
import { EdgeSupervisor, type FirstStart } from './edge-supervisor.js';
import { loadServerIdentity, type KnownIdentity } from './server-identity.js';

/** How long the start of the service waits for its data plane. */
const FIRST_START_MS = 10_000;
const NO_PORTS: EdgePorts = { agents: 0, http: 0, https: 0 };

/** The data plane of this service: keeps its process running and speaks for it. */
@Injectable()
export class Edges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private supervisor: EdgeSupervisor | null = null;
  private identity: KnownIdentity | null = null;
  private bound = NO_PORTS;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: TunnelGatewaySettings,
    private readonly launcher: EdgeLauncher,
    private readonly logger: JsonLogger,
    private readonly health: HealthRegistry,
  ) {}

  /** @throws StartError when a port of the gateway is taken. */
  async onApplicationBootstrap(): Promise<void> {
    const { home, secretKey } = this.settings;
    const key = loadSecretKey({ home, envValue: secretKey });
    this.identity = await loadServerIdentity({
      queries: pgPool(this.dataSource),
      box: createSecretBox(key),
      file: join(this.folder, 'identity.json'),
    });
    this.supervisor = new EdgeSupervisor({
      launch: () => this.launcher.launch(),
      edge: this.edgeOptions(this.identity, visitorSecretOf(key)),
      onLogs: (entries) => this.log(entries),
      onExit: (reason) => this.logger.warn(`the edge ended (${reason})`, 'Edge'),
    });
    this.started(await this.supervisor.start(FIRST_START_MS));
    this.health.register('edge', () => this.check());
    process.on('SIGHUP', this.onHangUp);
  }

  async beforeApplicationShutdown(): Promise<void> {
    process.off('SIGHUP', this.onHangUp);
    await this.supervisor?.stop(this.settings.shutdownTimeoutMs);
  }

  /** What the keys of agents carry. */
  get fingerprint(): string {
    if (!this.identity) throw new AppError('EDGE_UNAVAILABLE');
    return this.identity.fingerprint;
  }

  /** Ports that are bound. */
  get ports(): EdgePorts {
    return this.bound;
  }

  get pid(): number | null {
    return this.supervisor?.pid ?? null;
  }

  /** Agents that are connected, of these clients; null: the data plane does not answer. */
  async agentsOf(clientIds: number[]): Promise<Map<number, AgentState> | null> {
    if (clientIds.length === 0) return new Map();
    const agents = await this.ifThere('agents', { clientIds });
    return agents && new Map(agents.map((agent) => [agent.clientId, agent]));
  }

  /** How these tunnels are; null: the data plane does not answer. */
  async tunnelStates(ids: number[]): Promise<Map<number, TunnelState> | null> {
    if (ids.length === 0) return new Map();
    const states = await this.ifThere('tunnels', { ids });
    return states && new Map(states.map((state) => [state.id, state]));
  }

  /** @throws AppError EDGE_UNAVAILABLE */
  connections(clientId: number, limit: number): Promise<ConnectionList> {
    return this.ask('connections', { clientId, limit });
  }

  /** Ends the session and the connections of a client; its agent may come back. @throws AppError EDGE_UNAVAILABLE */
  kick(clientId: number): Promise<boolean> {
    return this.ask('kick', { clientId });
  }

  /** @throws AppError EDGE_UNAVAILABLE */
  status(): Promise<EdgeStatus> {
    return this.ask('status', null);
  }

  /** A new process takes over; nobody is dropped. */
  async replace(): Promise<void> {
    await this.supervisor?.replace();
    this.logger.log('another edge took over', { pid: this.pid }, 'Edge');
  }

  private readonly onHangUp = (): void => {
    this.replace().catch((error: unknown) => this.logger.error('the edge was not replaced', { error }, 'Edge'));
  };

  private get folder(): string {
    return join(this.settings.home, 'tunnel-gateway');
  }

  private edgeOptions(identity: KnownIdentity, visitorSecret: string): Omit<EdgeOptions, 'takesOver'> {
    const { settings, folder } = this;
    const at = (port: number): EdgeOptions['agents'] => ({ host: settings.listenAddress, port });
    return {
      databaseUrl: settings.databaseUrl,
      folder,
      identity: { key: identity.key, certificate: identity.certificate },
      visitorSecret,
      agents: at(settings.agentPort),
      http: at(settings.httpPort),
      https: at(settings.httpsPort),
      publicHttpsPort: settings.publicHttpsPort ?? null,
      certificateFolder: settings.certificateFolder,
      trustedProxies: settings.trustedProxies,
      debug: settings.logLevel === 'debug',
    };
  }

  private started(first: FirstStart): void {
    if (first.outcome === 'ready') {
      this.bound = first.ports;
      this.logger.log('the edge serves', { pid: this.pid, ...first.ports }, 'Edge');
    } else if (first.outcome === 'port') throw new StartError(portLine(first, this.settings));
    else this.logger.warn('the edge is not ready yet', 'Edge');
  }

  /** Ready means: it serves, with the database behind it. */
  private async check(): Promise<void> {
    const { databaseAnswers, source } = await this.status();
    if (source === 'snapshot') throw new Error('the edge serves the last snapshot of the configuration');
    if (!databaseAnswers) throw new Error('the edge has no database');
  }

  private log(entries: readonly EdgeLogEntry[]): void {
    for (const { level, message, fields = {} } of entries) {
      this.logger[level === 'info' ? 'log' : level](message, fields, 'Edge');
    }
  }

  private async ask<M extends EdgeMethod>(method: M, params: EdgeCalls[M]['params']): Promise<EdgeCalls[M]['result']> {
    try {
      if (!this.supervisor) throw new EdgeUnavailableError('The edge was not started.');
      return await this.supervisor.request(method, params);
    } catch (cause) {
      throw new AppError('EDGE_UNAVAILABLE', undefined, { cause, level: 'warn', retryAfterSeconds: 1 });
    }
  }

  private async ifThere<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
  ): Promise<EdgeCalls[M]['result'] | null> {
    try {
      return (await this.supervisor?.request(method, params)) ?? null;
    } catch (error) {
      if (error instanceof EdgeUnavailableError) return null;
      throw error;
    }
  }
}

/** A key of its own: what visitors hold says nothing about the key that seals the database. */
function visitorSecretOf(key: Buffer): string {
  return Buffer.from(hkdfSync('sha256', key, '', 'tunnel-gateway visitors', 32)).toString('base64');
}

const PORT_VARIABLES = { agents: 'TUNNEL_AGENT_PORT', http: 'TUNNEL_HTTP_PORT', https: 'TUNNEL_HTTPS_PORT' } as const;

/** One line that says what to change. */
function portLine(
  { port: name, code }: Extract<FirstStart, { outcome: 'port' }>,
  settings: Readonly<TunnelGatewaySettings>,
): string {
  const variable = PORT_VARIABLES[name];
  const port = { agents: settings.agentPort, http: settings.httpPort, https: settings.httpsPort }[name];
  if (code === 'EADDRINUSE') {
    const at = settings.listenAddress;
    return `${variable}: port ${port} on ${at} is in use by another program; set ${variable} to a free port`;
  }
  if (code === 'EACCES') {
    return `${variable}: this user may not listen on port ${port}; set ${variable} to a port above 1023`;
  }
  return `TUNNEL_LISTEN_ADDRESS: ${settings.listenAddress} cannot be listened on (${code})`;
}
