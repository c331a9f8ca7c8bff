import { AppError, HealthRegistry, JsonLogger } from '@gatehouse/platform';
import type { AgentState, TunnelState } from '@gatehouse/tunnel-kernel';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import type { ConnectionList, EdgeCalls, EdgeMethod, EdgePorts, EdgeStatus } from './edge-ipc.js';
import { EdgeUnavailableError } from './edge-process.js';
import { EdgeStarter } from './edge-starter.js';
import type { RunningEdge } from './start-edge.js';

/** The data plane of this service: keeps its process running and speaks for it. */
@Injectable()
export class Edges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private running: RunningEdge | undefined;

  constructor(
    private readonly starter: EdgeStarter,
    private readonly settings: TunnelGatewaySettings,
    private readonly logger: JsonLogger,
    private readonly health: HealthRegistry,
  ) {}

  /** @throws StartError when a port of the gateway is taken. */
  async onApplicationBootstrap(): Promise<void> {
    this.running = await this.starter.start();
    this.health.register('edge', () => this.check());
    if (process.platform !== 'win32') process.on('SIGUSR2', this.onUpgrade);
  }

  async beforeApplicationShutdown(): Promise<void> {
    process.off('SIGUSR2', this.onUpgrade);
    await this.running?.supervisor.stop(this.settings.shutdownTimeoutMs);
  }

  /** What the keys of agents carry. */
  get fingerprint(): string {
    if (!this.running) throw new AppError('EDGE_UNAVAILABLE');
    return this.running.identity.fingerprint;
  }

  /** Ports that are bound; 0: not yet. */
  get ports(): EdgePorts {
    return this.running?.ports ?? { agents: 0, http: 0, https: 0 };
  }

  get pid(): number | null {
    return this.running?.supervisor.pid ?? null;
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
    await this.running?.supervisor.replace();
    this.logger.log('another edge took over', { pid: this.pid }, 'Edge');
  }

  private readonly onUpgrade = (): void => {
    this.replace().catch((error: unknown) => this.logger.error('the edge was not replaced', { error }, 'Edge'));
  };

  /** Ready means: it serves, with the database behind it. */
  private async check(): Promise<void> {
    const { databaseAnswers, source, workers = [] } = await this.status();
    if (workers.includes(null)) throw new Error('a worker of the edge does not serve');
    if (source === 'snapshot') throw new Error('the edge serves the last snapshot of the configuration');
    if (!databaseAnswers) throw new Error('the edge has no database');
  }

  private async ask<M extends EdgeMethod>(method: M, params: EdgeCalls[M]['params']): Promise<EdgeCalls[M]['result']> {
    try {
      if (!this.running) throw new EdgeUnavailableError('The edge was not started.');
      return await this.running.supervisor.request(method, params);
    } catch (cause) {
      throw new AppError('EDGE_UNAVAILABLE', undefined, { cause, level: 'warn', retryAfterSeconds: 1 });
    }
  }

  private async ifThere<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
  ): Promise<EdgeCalls[M]['result'] | null> {
    try {
      return (await this.running?.supervisor.request(method, params)) ?? null;
    } catch (error) {
      if (error instanceof EdgeUnavailableError) return null;
      throw error;
    }
  }
}
