import type { TLSSocket } from 'node:tls';
import { agentResources, EMPTY_CONFIG, type TunnelServerConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { AgentState, ServerTimeouts, TunnelServerEnvironment } from '../server-environment.js';
import type { CarriedMessage, EdgesMessage, PathStateMessage, RefusedMessage } from '../wire/messages.js';
import { AgentArrivals } from './agent-arrivals.js';
import type { Arrival } from './arrival.js';
import { ChannelSource } from './channel-source.js';
import type { ServerIdentities } from './server-identities.js';
import { DEFAULT_POOL_LIMITS, type ChannelPool } from './channel-pool.js';
import { RemoteAgents, type RemoteAgent } from './remote-agents.js';
import { ServerSession, type SessionContext } from './server-session.js';
import { SessionTable } from './session-table.js';
import { serverTag, TicketTable } from './ticket-table.js';

/** Upper bound for waiting agents of disabled clients; others are sent away for half a minute. */
const MAX_PARKED = 200;

export interface AgentSessionsOptions {
  environment: TunnelServerEnvironment;
  identities: ServerIdentities;
  timeouts: ServerTimeouts;
  /** Sent to agents where UDP has a port of its own. */
  packetPort(): number | null;
  /** Whether a client's datagrams currently use UDP packets. */
  viaPackets(clientId: number): boolean;
  /** An agent has begun to serve its client. */
  came(session: ServerSession): void;
  /** An agent has fallen silent, or speaks again. */
  answering(session: ServerSession, answers: boolean): void;
  /**
   * An agent no longer serves its client. `next`: the newest of those that still do, if this one was newer.
   */
  sessionEnded(session: ServerSession, error: TunnelError, next: ServerSession | null): void;
  /** An agent's report about a direct path. */
  said(clientId: number, message: PathStateMessage | CarriedMessage): void;
  /** An agent could not do what it was asked for. */
  refused(clientId: number, message: RefusedMessage): void;
}

/** The agents of a server: which are connected, which serves which client, and what each has been sent. */
export class AgentSessions {
  /** Tickets of data channels; the listener redeems them. */
  readonly tickets: TicketTable;
  /** Data channels of all agents. */
  readonly channels: ChannelSource;
  /** Agents of other servers. */
  readonly remote: RemoteAgents;
  private readonly options: AgentSessionsOptions;
  private readonly arrivals: AgentArrivals;
  private readonly context: SessionContext;
  private readonly table = new SessionTable();
  /** All control connections, authenticated or not. */
  private readonly links = new Set<ServerSession>();
  private config: TunnelServerConfig = EMPTY_CONFIG;
  private edges: EdgesMessage | null = null;
  private order = 0;
  private turn = 0;
  /** Set while the server drains: new agents are sent away over this period. Null: they may stay. */
  private spreadMs: number | null = null;
  private onEmpty: (() => void) | null = null;

  constructor(options: AgentSessionsOptions) {
    const { environment, timeouts } = options;
    this.options = options;
    this.tickets = new TicketTable(
      timeouts.ticket,
      environment.worker ?? null,
      environment.peers ? serverTag(environment.peers.id) : null,
    );
    this.arrivals = new AgentArrivals(environment.now, timeouts.arrival);
    const poolLimits = { ...DEFAULT_POOL_LIMITS, ...environment.pool };
    this.remote = new RemoteAgents(this.tickets, { limits: poolLimits, now: environment.now });
    this.channels = new ChannelSource({
      openMs: timeouts.open,
      isOnline: (clientId) => this.isOnline(clientId),
      otherMs: timeouts.other,
      poolOf: (clientId) =>
        this.localPool(clientId) ?? this.remote.poolOf(clientId) ?? this.localPools(clientId, false)[0] ?? null,
      poolsOf: (clientId) => [
        ...this.localPools(clientId, true),
        ...this.remote.poolsOf(clientId),
        ...this.localPools(clientId, false),
      ],
      arrivals: this.arrivals,
    });
    this.context = {
      store: environment.clients,
      logger: environment.logger,
      tickets: this.tickets,
      poolLimits,
      now: environment.now,
      agents: () => this.table.size,
      handshakeMs: timeouts.handshake,
      parkMs: timeouts.park,
      mayPark: () => this.parked().length < MAX_PARKED,
      heartbeatMs: timeouts.heartbeat,
      renewMs: timeouts.renew,
      nextFor: (stream) => options.identities.nextFor(stream),
      packetPort: () => options.packetPort(),
      admit: (session) => this.admit(session),
      welcomed: (session) => this.welcomed(session),
      answering: (session, answers) => options.answering(session, answers),
      lost: (session) => this.hasOther(session) && session.pool?.abandon(),
      sessionEnded: (session, error) => this.sessionEnded(session, error),
      closed: (session) => this.links.delete(session),
      path: ({ identity }, message) => options.said(identity.client.id, message),
      refused: ({ identity }, message) => options.refused(identity.client.id, message),
    };
  }

  /** Called when agents can connect; some are expected. `moving`: clients whose agents are sent here. */
  begin(moving: readonly number[] = []): void {
    this.arrivals.begin(moving);
  }

  /** Serves a control connection from its first byte. `known`: called when its key was right. */
  accept(stream: TLSSocket, arrival: Arrival, known: () => void): void {
    this.links.add(new ServerSession({ stream, arrival, order: ++this.order, known }, this.context));
  }

  /** The newest of the client's sessions with this server. */
  of(clientId: number): ServerSession | undefined {
    return this.table.of(clientId);
  }

  /** Whether visitors of the client can be served: by an agent of this server, or by one of another server. */
  isOnline(clientId: number): boolean {
    return this.table.of(clientId) !== undefined || this.remote.has(clientId);
  }

  /** Whether the client has another agent that answers, as far as this server knows. */
  hasOther(session: ServerSession): boolean {
    const { id } = session.identity.client;
    return this.remote.has(id) || this.localPools(id, true).some((pool) => pool !== session.pool);
  }

  /** Ends all sessions of a client with this server. */
  end(clientId: number, reason: TunnelError): void {
    for (const session of this.table.allOf(clientId)) session.end(reason);
  }

  /** The sessions with this server: of a client, or all. */
  current(clientId?: number): readonly ServerSession[] {
    return clientId === undefined ? this.table.all() : this.table.allOf(clientId);
  }

  /** An agent has connected to another server: visitors can be served there, and it may replace agents of this one. */
  cameElsewhere(agent: RemoteAgent): void {
    this.arrivals.arrived(agent.clientId);
    for (const session of this.table.allOf(agent.clientId)) {
      if (isReplacedBy(session, agent))
        session.end(new TunnelError('replaced', 'another server has a newer connection'));
    }
  }

  /** See `AgentArrivals`. */
  awaitOthers(until: number): void {
    this.arrivals.awaitOthers(until);
  }

  /** Sends the edges of the gateway to all agents, now and when they connect. */
  announce(edges: EdgesMessage): void {
    this.edges = edges;
    for (const session of this.table.all()) session.send(edges);
  }

  get size(): number {
    return this.table.size;
  }

  states(): AgentState[] {
    return this.table.all().map((session) => this.stateOf(session));
  }

  /** Sends each agent its resources; agents that connect later get theirs then. */
  configure(config: TunnelServerConfig): void {
    this.config = config;
    for (const session of this.table.all()) this.updateSession(session);
    for (const session of this.parked()) session.lookAgain();
  }

  /** Number of visitors that wait for a data channel. */
  get waiting(): number {
    const local = this.table.all().reduce((total, { pool }) => total + (pool?.waitingCount ?? 0), 0);
    return local + this.remote.waiting;
  }

  /**
   * Asks all agents, including those that are still connecting, to reconnect within `spreadMs` to the process that has
   * the port then.
   */
  move(spreadMs: number): void {
    this.spreadMs = spreadMs;
    for (const session of this.table.all()) session.move(spreadMs);
  }

  /** Resolves when all agents have left, or after `timeoutMs`. */
  async moved(timeoutMs: number): Promise<void> {
    if (this.table.size === 0 || timeoutMs === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends all sessions. */
  stop(): void {
    for (const session of this.links) session.end(new TunnelError('stopped', 'the server stops'));
  }

  private parked(): ServerSession[] {
    return [...this.links].filter(({ parked }) => parked);
  }

  /** One agent of the client after the other. Null: none that takes visitors and answers is connected to this server. */
  private localPool(clientId: number): ChannelPool | null {
    const sessions = this.table.allOf(clientId);
    if (sessions.length === 1) return sessions[0]?.pool?.answers ? sessions[0].pool : null;
    const pools = this.localPools(clientId, true);
    return pools[(this.turn += 1) % pools.length] ?? null;
  }

  private localPools(clientId: number, answers: boolean): ChannelPool[] {
    const pools = this.table.allOf(clientId).flatMap(({ pool }) => pool ?? []);
    return pools.filter((pool) => pool.answers === answers);
  }

  private admit(session: ServerSession): void {
    const { agentId, client, software } = session.identity;
    const replaced = this.table.admit(session);
    session.continues = replaced.some(({ identity }) => identity.agentId === agentId);
    const address = session.arrival.from?.address ?? '';
    for (const { identity, arrival } of session.continues ? [] : replaced) {
      const before = { address: arrival.from?.address ?? '', software: identity.software };
      if (before.address === address) continue;
      this.options.environment.events?.agentReplaced?.({ clientId: client.id, address, software, before });
    }
  }

  private welcomed(session: ServerSession): void {
    this.updateSession(session);
    if (this.edges) session.send(this.edges);
    this.options.came(session);
    this.arrivals.arrived(session.identity.client.id);
    const isOnlyOne = this.table.allOf(session.identity.client.id).length === 1;
    if (!session.continues && isOnlyOne) this.options.environment.events?.agentOnline?.(this.stateOf(session));
    if (this.spreadMs !== null) session.move(this.spreadMs);
  }

  private updateSession(session: ServerSession): void {
    session.configure(this.config.revision, agentResources(this.config, session.identity.client.id));
  }

  private sessionEnded(session: ServerSession, error: TunnelError): void {
    const { id } = session.identity.client;
    const wasNewest = this.table.of(id) === session;
    if (!this.table.remove(session)) return;
    const next = this.table.of(id) ?? null;
    this.options.sessionEnded(session, error, wasNewest ? next : null);
    if (!next) this.options.environment.events?.agentOffline?.(id, error);
    if (this.table.size === 0) this.onEmpty?.();
  }

  private stateOf(session: ServerSession): AgentState {
    return agentStateOf(session, this.options.viaPackets(session.identity.client.id));
  }
}

/** Whether the agent is a newer connection of the same run, or of another run that takes over. Servers decide alike. */
function isReplacedBy({ identity, since }: ServerSession, agent: RemoteAgent): boolean {
  if (agent.agentId === identity.agentId) return agent.slot === identity.slot && agent.epoch > identity.epoch;
  if (agent.replica && identity.replica) return false;
  return agent.since > since || (agent.since === since && agent.agentId > identity.agentId);
}

/** The public state of a session. `packets`: whether its datagrams currently use UDP packets. */
function agentStateOf({ identity, arrival, since, roundTripMs, pool }: ServerSession, packets: boolean): AgentState {
  const { client, agentId, software } = identity;
  return {
    clientId: client.id,
    agentId,
    software,
    address: arrival.from?.address ?? '',
    via: arrival.via,
    connectedAt: since,
    roundTripMs,
    idleChannels: pool?.idleCount ?? 0,
    packets,
  };
}
