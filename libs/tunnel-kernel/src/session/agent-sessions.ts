import type { TLSSocket } from 'node:tls';
import { agentResources, EMPTY_CONFIG, type TunnelServerConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { AgentState, ServerTimeouts, TunnelServerEnvironment } from '../server-environment.js';
import type { CarriedMessage, PathStateMessage, RefusedMessage } from '../wire/messages.js';
import { AgentArrivals } from './agent-arrivals.js';
import type { Arrival } from './arrival.js';
import { DEFAULT_POOL_LIMITS } from './channel-pool.js';
import { ChannelSource } from './channel-source.js';
import type { ServerIdentities } from './server-identities.js';
import { ServerSession, type SessionContext } from './server-session.js';
import { TicketTable } from './ticket-table.js';

/** The current session of each client: the newest one. */
class SessionTable {
  private readonly current = new Map<number, ServerSession>();

  get size(): number {
    return this.current.size;
  }

  of(clientId: number): ServerSession | undefined {
    return this.current.get(clientId);
  }

  all(): ServerSession[] {
    return [...this.current.values()];
  }

  /**
   * Makes `session` the current one of its client, ends the previous session and returns it. @throws TunnelError
   * `replaced` when a newer connection was faster.
   */
  admit(session: ServerSession): ServerSession | null {
    const { client, agentId, epoch } = session.identity;
    const before = this.current.get(client.id);
    if (before) {
      const same = before.identity.agentId === agentId;
      const newer = same ? epoch > before.identity.epoch : session.order > before.order;
      if (!newer) throw new TunnelError('replaced', 'a newer connection serves this client');
    }
    this.current.set(client.id, session);
    before?.end(new TunnelError('replaced', 'another connection serves this client now'));
    return before ?? null;
  }

  /** True if it was the current session of its client. */
  remove(session: ServerSession): boolean {
    const { id } = session.identity.client;
    if (this.current.get(id) !== session) return false;
    return this.current.delete(id);
  }
}

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
  /** An agent no longer serves its client. */
  sessionEnded(clientId: number, error: TunnelError): void;
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
  private readonly options: AgentSessionsOptions;
  private readonly arrivals: AgentArrivals;
  private readonly context: SessionContext;
  private readonly table = new SessionTable();
  /** All control connections, authenticated or not. */
  private readonly links = new Set<ServerSession>();
  private config: TunnelServerConfig = EMPTY_CONFIG;
  private order = 0;
  /** Set while the server drains: new agents are sent away over this period. Null: they may stay. */
  private spreadMs: number | null = null;
  private onEmpty: (() => void) | null = null;

  constructor(options: AgentSessionsOptions) {
    const { environment, timeouts } = options;
    this.options = options;
    this.tickets = new TicketTable(timeouts.ticket, environment.worker ?? null);
    this.arrivals = new AgentArrivals(environment.now, timeouts.arrival);
    this.channels = new ChannelSource({
      openMs: timeouts.open,
      poolOf: (clientId) => this.of(clientId)?.pool ?? null,
      arrivals: this.arrivals,
    });
    this.context = {
      store: environment.clients,
      logger: environment.logger,
      tickets: this.tickets,
      poolLimits: { ...DEFAULT_POOL_LIMITS, ...environment.pool },
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

  /** The client's current session. */
  of(clientId: number): ServerSession | undefined {
    return this.table.of(clientId);
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
    return this.table.all().reduce((total, { pool }) => total + (pool?.waitingCount ?? 0), 0);
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

  private admit(session: ServerSession): void {
    const before = this.table.admit(session);
    if (!before) return;
    const { agentId, client, software } = session.identity;
    session.continues = before.identity.agentId === agentId;
    const [address, addressBefore] = [session, before].map(({ arrival }) => arrival.from?.address ?? '');
    if (session.continues || address === addressBefore) return;
    this.options.environment.events?.agentReplaced?.({
      clientId: client.id,
      address: address ?? '',
      software,
      before: { address: addressBefore ?? '', software: before.identity.software },
    });
  }

  private welcomed(session: ServerSession): void {
    this.updateSession(session);
    this.options.came(session);
    this.arrivals.arrived(session.identity.client.id);
    if (!session.continues) this.options.environment.events?.agentOnline?.(this.stateOf(session));
    if (this.spreadMs !== null) session.move(this.spreadMs);
  }

  private updateSession(session: ServerSession): void {
    session.configure(this.config.revision, agentResources(this.config, session.identity.client.id));
  }

  private sessionEnded(session: ServerSession, error: TunnelError): void {
    if (!this.table.remove(session)) return;
    const { id } = session.identity.client;
    this.options.sessionEnded(id, error);
    this.options.environment.events?.agentOffline?.(id, error);
    if (this.table.size === 0) this.onEmpty?.();
  }

  private stateOf(session: ServerSession): AgentState {
    return agentStateOf(session, this.options.viaPackets(session.identity.client.id));
  }
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
