import { randomUUID } from 'node:crypto';
import { guardPromise, setFlowTimeout } from '@gatehouse/net';
import {
  AgentConnection,
  type AgentEvents,
  type AgentStatus,
  type TunnelAgentEnvironment,
} from './agent-connection.js';
import type { FlowDelta } from './flow-ledger.js';
import { Backoff } from './base/backoff.js';
import type { HostAndPort } from './environment.js';
import { resourceKey } from './resource.js';
import { TlsMemory } from './session/pinned-tls.js';
import type { EdgeAddress, EdgesMessage } from './wire/messages.js';

/** Slots of a second connection: 1 to 15, in turn. */
const SLOTS = 15;
/** How long visitors may stay on a connection to an edge that the gateway no longer names. */
const LEAVE_MS = 600_000;
/** Pause after a second connection that cannot be resumed. */
const REST_MS = 30_000;

/** A connection to another edge than the first. */
interface SecondConnection {
  edge: EdgeAddress;
  connection: AgentConnection;
  status: AgentStatus;
}

/**
 * A client's agent. It connects to one server, and to one more edge of the gateway if that server names others: visitors
 * are served while either is connected.
 */
export class TunnelAgent {
  private readonly environment: TunnelAgentEnvironment;
  private readonly agentId = randomUUID();
  private readonly random: () => number;
  private readonly memory = new TlsMemory();
  private readonly first: AgentConnection;
  private second: SecondConnection | null = null;
  /** Connections to edges that are not named any longer, while they serve their last visitors. */
  private readonly leaving = new Set<AgentConnection>();
  /** The edges beside the first connection's own. */
  private others: readonly EdgeAddress[] = [];
  /** Id of the first connection's edge. */
  private own: string | null = null;
  /** Edges that were lost or not reached, with the time: another one is tried first. */
  private readonly failed = new Map<string, number>();
  private readonly backoff: Backoff;
  private seconds = 0;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  status: AgentStatus = { state: 'connecting' };

  /** @throws TunnelError `key_string`. */
  constructor(environment: TunnelAgentEnvironment) {
    this.environment = environment;
    this.random = environment.random ?? Math.random;
    this.backoff = new Backoff(this.random);
    this.first = new AgentConnection(
      { ...environment, events: { ...environment.events, status: () => this.firstChanged() } },
      {
        agentId: this.agentId,
        slot: 0,
        memory: this.memory,
        edges: (edges) => this.edgesChanged(edges),
        isServed: () => this.second?.status.state === 'online',
        prefers: () => this.freeEdge(),
      },
    );
  }

  start(): void {
    if (!this.stopped) this.first.start();
  }

  /** Number of running connections. */
  get flows(): number {
    return this.connections.reduce((total, { flows }) => total + flows, 0);
  }

  /** What was carried since the last call. */
  takeDeltas(): FlowDelta[] {
    const sums = new Map<string, FlowDelta>();
    for (const delta of this.connections.flatMap((connection) => connection.takeDeltas())) {
      const key = `${delta.clientId} ${resourceKey(delta.resource)}`;
      const sum = sums.get(key) ?? { ...delta, upload: 0, download: 0, connections: 0 };
      sum.upload += delta.upload;
      sum.download += delta.download;
      sum.connections += delta.connections;
      sums.set(key, sum);
    }
    return [...sums.values()];
  }

  /** Accepts no more visitors, waits `graceMs` at most for the current ones, then closes everything. */
  async stop(graceMs = 0): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await Promise.all(this.connections.map((connection) => connection.stop(graceMs)));
  }

  private get connections(): AgentConnection[] {
    return [this.first, ...(this.second ? [this.second.connection] : []), ...this.leaving];
  }

  private edgesChanged({ own, edges }: EdgesMessage): void {
    this.own = own;
    this.others = edges.filter(({ id }) => id !== own);
    const isHere = new Set(this.others.map(({ id }) => id));
    for (const id of this.failed.keys()) if (!isHere.has(id)) this.failed.delete(id);
    this.choose();
  }

  /** Keeps the second connection if its edge is still named; otherwise makes one to any other. */
  private choose(): void {
    if (this.stopped || this.timer) return;
    const { second, others } = this;
    if (second && others.some(({ id, host, port }) => isAt(second.edge, id, host, port))) return;
    if (second) this.leave(second);
    const edge = this.pick(others);
    if (edge) this.connectTo(edge);
  }

  /** Any of those that did not fail, or the one whose failure was the longest ago. */
  private pick(edges: readonly EdgeAddress[]): EdgeAddress | undefined {
    const failedAt = ({ id }: EdgeAddress): number => this.failed.get(id) ?? 0;
    const oldest = Math.min(...edges.map(failedAt));
    const best = edges.filter((edge) => failedAt(edge) === oldest);
    return best[Math.floor(this.random() * best.length)];
  }

  /**
   * An edge for the first connection that has neither failed nor the second connection: the configured address may lead to
   * the edge of the second one, which would then have to move.
   */
  private freeEdge(): HostAndPort | null {
    const { second, others, failed } = this;
    if (second?.status.state !== 'online') return null;
    return this.pick(others.filter(({ id }) => id !== second.edge.id && !failed.has(id))) ?? null;
  }

  private lost(edge: string): void {
    this.failed.set(edge, this.environment.now());
  }

  private connectTo(edge: EdgeAddress): void {
    // The address for WebSockets is that of the first server.
    const { websocket: _own, ...environment } = this.environment;
    const events: AgentEvents = { ...environment.events, status: (status) => this.secondChanged(connection, status) };
    // Both servers send the same configuration, which is reported once.
    delete events.configured;
    const { host, port } = edge;
    const slot = 1 + (this.seconds++ % SLOTS);
    const connection: AgentConnection = new AgentConnection(
      {
        ...environment,
        server: { host, port },
        events,
      },
      {
        agentId: this.agentId,
        slot,
        memory: this.memory,
        edges: () => undefined,
        isServed: () => this.first.status.state === 'online',
      },
    );
    this.second = { edge, connection, status: { state: 'connecting' } };
    connection.start();
  }

  private leave({ connection }: SecondConnection): void {
    this.second = null;
    this.leaving.add(connection);
    guardPromise(
      null,
      connection.stop(LEAVE_MS).then(() => void this.leaving.delete(connection)),
    );
  }

  private firstChanged(): void {
    if (this.first.status.state === 'waiting' && this.own !== null) this.lost(this.own);
    // Another agent has taken over, or the key is not valid: the second connection has the same key.
    if (this.first.status.state === 'stopped' && this.second && !this.stopped) {
      this.stopped = true;
      this.leave(this.second);
    }
    this.report();
  }

  private secondChanged(connection: AgentConnection, status: AgentStatus): void {
    const { second, others } = this;
    if (second?.connection !== connection) return;
    second.status = status;
    if (status.state === 'online') this.reached(second.edge.id);
    else if (status.state !== 'connecting') this.lost(second.edge.id);
    if (status.state === 'stopped') this.chooseIn(REST_MS);
    else if (status.state === 'waiting' && others.length > 1)
      this.chooseIn(Math.max(status.retryMs, this.backoff.next()));
    this.report();
  }

  private reached(edge: string): void {
    this.failed.delete(edge);
    this.backoff.reset();
  }

  /** Gives up the second connection, and makes another after a pause. */
  private chooseIn(delayMs: number): void {
    if (this.stopped) return;
    if (this.second) this.leave(this.second);
    this.timer ??= setFlowTimeout(
      null,
      () => {
        this.timer = null;
        this.choose();
      },
      delayMs,
    );
    this.timer.unref();
  }

  /** The agent is online while any connection is. */
  private report(): void {
    const { first, second } = this;
    const isOver = first.status.state === 'online' || first.status.state === 'stopped';
    const status = !isOver && second?.status.state === 'online' ? second.status : first.status;
    if (status === this.status) return;
    this.status = status;
    this.environment.events?.status?.(status);
  }
}

function isAt(edge: EdgeAddress, id: string, host: string, port: number): boolean {
  return edge.id === id && edge.host === host && edge.port === port;
}
