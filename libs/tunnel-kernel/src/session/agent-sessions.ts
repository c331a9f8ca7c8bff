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

/** Which session serves which client: one each, the newest. */
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
   * Makes `session` its client's, and ends the one before at once, which it answers. @throws TunnelError `replaced` when a newer
   * connection was quicker.
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

  /** True if it was its client's session. */
  remove(session: ServerSession): boolean {
    const { id } = session.identity.client;
    if (this.current.get(id) !== session) return false;
    return this.current.delete(id);
  }
}

/** Agents of disabled clients that wait on their connections; more are sent away for half a minute. */
const MAX_PARKED = 200;

export interface AgentSessionsOptions {
  environment: TunnelServerEnvironment;
  identities: ServerIdentities;
  timeouts: ServerTimeouts;
  /** Told to agents where their UDP packets have a port of their own. */
  packetPort(): number | null;
  /** Whether a client's datagrams go as packets at the moment. */
  viaPackets(clientId: number): boolean;
  /** An agent serves its client from now on. */
  came(session: ServerSession): void;
  /** A client's agent serves it no more. */
  sessionEnded(clientId: number, error: TunnelError): void;
  /** An agent's word about a direct path. */
  said(clientId: number, message: PathStateMessage | CarriedMessage): void;
  /** An agent could not reach what it was asked for. */
  refused(clientId: number, message: RefusedMessage): void;
}

/** The agents of a server: who connected, who serves which client, and what each of them is told. */
export class AgentSessions {
  /** Of data channels; the door redeems them. */
  readonly tickets: TicketTable;
  /** Of all agents. */
  readonly channels: ChannelSource;
  private readonly options: AgentSessionsOptions;
  private readonly arrivals: AgentArrivals;
  private readonly context: SessionContext;
  private readonly table = new SessionTable();
  /** Connections that are not authenticated yet, and sessions. */
  private readonly links = new Set<ServerSession>();
  private config: TunnelServerConfig = EMPTY_CONFIG;
  private order = 0;
  /** Agents that come are sent on; null: they may stay. */
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

  /** Agents can connect from now on; some are expected. `moving`: clients whose agents are sent here. */
  begin(moving: readonly number[] = []): void {
    this.arrivals.begin(moving);
  }

  /** A control connection, from its first byte. `known`: called when its key was right. */
  accept(stream: TLSSocket, arrival: Arrival, known: () => void): void {
    this.links.add(new ServerSession({ stream, arrival, order: ++this.order, known }, this.context));
  }

  /** The session that serves the client. */
  of(clientId: number): ServerSession | undefined {
    return this.table.of(clientId);
  }

  states(): AgentState[] {
    return this.table.all().map((session) => this.stateOf(session));
  }

  /** Agents, those that come later too, are told what is theirs. */
  configure(config: TunnelServerConfig): void {
    this.config = config;
    for (const session of this.table.all()) this.updateSession(session);
    for (const session of this.parked()) session.lookAgain();
  }

  /** Visitors that wait for a data channel. */
  get waiting(): number {
    return this.table.all().reduce((total, { pool }) => total + (pool?.waitingCount ?? 0), 0);
  }

  /** Agents are told to connect again, to whoever has the port then, within `spreadMs`; those that were on their way, too. */
  move(spreadMs: number): void {
    this.spreadMs = spreadMs;
    for (const session of this.table.all()) session.move(spreadMs);
  }

  /** Resolves when all have left, or after `timeoutMs`. */
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

  /** Ends all of them. */
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

/** An agent as others see it. `packets`: its datagrams go as such at the moment. */
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
