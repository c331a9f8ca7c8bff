import type { Server } from 'node:http';
import { AppError, HealthRegistry, JsonLogger, MetricsRegistry } from '@gatehouse/platform';
import type { CheckedTarget, RecordList, ResourceRef, TargetCheck, TunnelState } from '@gatehouse/tunnel-kernel';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { TunnelGatewaySettings } from '../settings.js';
import type {
  ConnectionList,
  EdgeAgent,
  EdgeCalls,
  EdgePorts,
  EdgeStatus,
  PeerAnswers,
  PeerQuestion,
  RequestsQuestion,
} from '../common/edge-ipc.js';
import { EdgeUnavailableError } from '../common/edge-process.js';
import { EdgeStarter } from './edge-starter.js';
import { problemsOf } from '../common/health-port.js';
import type { ForwardedMethod } from '../common/supervisor-calls.js';
import type { KnownIdentity } from './server-identity.js';
import type { RunningEdge } from './start-edge.js';

/** Less than a load balancer waits for `/readyz`. */
const CHECK_MS = 1_500;
/** A program that is replaced, or that is restarted after a crash, is back by then and has its configuration. */
const ABSENCE_MS = 10_000;

/** This service's data plane: starts or finds it, and forwards requests to it. */
@Injectable()
export class Edges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private running: RunningEdge | undefined;
  /** Whether the edge is to continue without this service. */
  private leaves = false;
  /** When the edge last answered a check without a problem, by `performance.now()`. */
  private healthyAt = -Infinity;
  private readonly refusedRows;
  private readonly flowFailures;

  constructor(
    private readonly starter: EdgeStarter,
    private readonly settings: TunnelGatewaySettings,
    private readonly logger: JsonLogger,
    private readonly health: HealthRegistry,
    private readonly http: HttpAdapterHost,
    metrics: MetricsRegistry,
  ) {
    const help = 'Rows that the database refused for good, since the edge began; as of the last look at /readyz';
    this.refusedRows = metrics.gauge('edge_refused_rows', help);
    const failed = 'Flows that an unexpected failure ended, since the edge began; as of the last look at /readyz';
    this.flowFailures = metrics.gauge('edge_flow_failures', failed);
  }

  /** @throws StartError when a port of the gateway is taken. */
  async onApplicationBootstrap(): Promise<void> {
    this.running = await this.starter.start();
    this.health.register('edge', () => this.check());
    if (process.platform !== 'win32') process.on('SIGUSR2', this.onUpgrade).on('SIGHUP', this.onHangUp);
    // If the service cannot start, an edge that it found must keep running.
    if (!this.running.link.tookOver) return;
    this.leaves = true;
    (this.http.httpAdapter.getHttpServer() as Server).once('listening', () => {
      this.leaves = false;
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    process.off('SIGUSR2', this.onUpgrade).off('SIGHUP', this.onHangUp);
    if (this.leaves) this.running?.link.leave();
    else await this.running?.link.stop(this.settings.shutdownTimeoutMs);
  }

  /** Fingerprint in the keys of agents. */
  get fingerprint(): string {
    return this.pins.fingerprint;
  }

  /** Fingerprints in new keys of agents and visitors: both, while the gateway's key is being replaced. */
  get pins(): Pick<KnownIdentity, 'fingerprint' | 'nextFingerprint'> {
    if (!this.running) throw new AppError('EDGE_UNAVAILABLE');
    const { fingerprint, nextFingerprint } = this.running.identity;
    return { fingerprint, nextFingerprint };
  }

  /** The bound ports; 0: not yet. */
  get ports(): EdgePorts {
    return this.running?.ports ?? { agents: 0, http: 0, https: 0 };
  }

  get pid(): number | null {
    return this.running?.link.pid ?? null;
  }

  /** Connected agents of these clients, or of all; null: the data plane does not answer. */
  agents(clientIds: number[] | null): Promise<EdgeAgent[] | null> {
    return this.ifThere('agents', { clientIds });
  }

  /** Has the edge ask the other ones; null: it does not answer. */
  async peers(question: PeerQuestion): Promise<PeerAnswers | null> {
    try {
      return await this.ifThere('peers', question);
    } catch {
      // An edge of an older version, which knows no others.
      return { own: null, answers: [], silent: [] };
    }
  }

  /** The states of these tunnels at this edge; null: the data plane does not answer. */
  tunnels(ids: number[]): Promise<TunnelState[] | null> {
    return this.ifThere('tunnels', { ids });
  }

  /** What health checks of this edge found out about the targets of these hosts; null: it does not answer. */
  async checkedTargets(hostIds: number[]): Promise<CheckedTarget[] | null> {
    try {
      return await this.ifThere('checkedTargets', { hostIds });
    } catch {
      // An edge of an older version, which checks nothing.
      return null;
    }
  }

  /** @throws AppError EDGE_UNAVAILABLE */
  connections(clientId: number, limit: number): Promise<ConnectionList> {
    return this.ask('connections', { clientId, limit });
  }

  /** The last requests of a host that is recorded, at this edge. @throws AppError EDGE_UNAVAILABLE */
  requests(question: RequestsQuestion): Promise<RecordList> {
    return this.ask('requests', question);
  }

  /** Sends a recorded request again, through this edge. @throws AppError EDGE_UNAVAILABLE */
  replay(question: EdgeCalls['replay']['params']): Promise<EdgeCalls['replay']['result']> {
    return this.ask('replay', question);
  }

  /** Reaches the target of a tunnel or host through its agent. @throws AppError EDGE_UNAVAILABLE */
  checkTarget(clientId: number, resource: ResourceRef, port?: number): Promise<TargetCheck> {
    return this.ask('checkTarget', { clientId, resource, port });
  }

  /** Ends the session and the connections of a client; its agent may reconnect. @throws AppError EDGE_UNAVAILABLE */
  kick(clientId: number): Promise<boolean> {
    return this.ask('kick', { clientId });
  }

  /** @throws AppError EDGE_UNAVAILABLE */
  status(): Promise<EdgeStatus> {
    return this.ask('status', null);
  }

  /** Replaces the process without dropping connections. */
  async replace(): Promise<void> {
    await this.running?.link.replace();
    this.logger.log('another edge took over', { pid: this.pid }, 'Edge');
  }

  private readonly onUpgrade = (): void => {
    this.replace().catch((error: unknown) => this.logger.error('the edge was not replaced', { error }, 'Edge'));
  };

  /** The service ends, and the edge keeps running for the next one. */
  private readonly onHangUp = (): void => {
    this.leaves = true;
    process.kill(process.pid, 'SIGTERM');
  };

  /**
   * Ready: it serves, with a working database. While it is being replaced, this service stays ready: nearly all of its
   * routes answer without an edge, and a load balancer may have no other service.
   */
  private async check(): Promise<void> {
    const mayBeReplaced = performance.now() - this.healthyAt < ABSENCE_MS;
    const status = await this.ask('status', null, CHECK_MS).catch((error: unknown) => {
      if (mayBeReplaced) return null;
      throw error;
    });
    if (status === null) return;
    this.refusedRows.set(status.refusedRows ?? 0);
    this.flowFailures.set(status.flowFailures ?? 0);
    const [problem] = problemsOf(status);
    // An edge that has just started serves its snapshot until it has read the configuration.
    if (problem !== undefined && !(mayBeReplaced && status.source === 'snapshot')) throw new Error(problem);
    if (problem === undefined) this.healthyAt = performance.now();
  }

  private async ask<M extends ForwardedMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
    timeoutMs?: number,
  ): Promise<EdgeCalls[M]['result']> {
    try {
      if (!this.running) throw new EdgeUnavailableError('The edge was not started.');
      return await this.running.link.request(method, params, timeoutMs);
    } catch (cause) {
      throw new AppError('EDGE_UNAVAILABLE', undefined, { cause, level: 'warn', retryAfterSeconds: 1 });
    }
  }

  private async ifThere<M extends ForwardedMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
  ): Promise<EdgeCalls[M]['result'] | null> {
    try {
      return (await this.running?.link.request(method, params)) ?? null;
    } catch (error) {
      if (error instanceof EdgeUnavailableError) return null;
      throw error;
    }
  }
}
