import { setFlowTimeout } from '@gatehouse/net';
import { systemDialer } from './dial.js';
import type { AgentDialer, HostAndPort, TunnelLogger } from './environment.js';
import { TunnelError, type TunnelErrorCode } from './errors.js';
import { FlowLedger, type FlowDelta, type FlowRecord } from './flow-ledger.js';
import { AgentChannels } from './agent-channels.js';
import type { ChannelOwner } from './agent/channel-handler.js';
import type { DatagramLimits } from './datagrams/agent-datagrams.js';
import { AgentSession } from './session/agent-session.js';
import { Backoff } from './base/backoff.js';
import { PinnedServer, type TlsMemory } from './session/pinned-tls.js';
import { isOfTheWay, RouteChooser, type AgentTransport } from './session/route-chooser.js';
import type { ServerRoute } from './session/server-route.js';
import { agentKeyHash, formatAgentKey, parseAgentKey, pinsOf } from './wire/key-string.js';
import { agentRouteTag } from './wire/route-tag.js';
import type { WebSocketAddress } from './websocket/handshake.js';
import type { ConfigMessage, EdgesMessage } from './wire/messages.js';

/** All in milliseconds. */
export interface AgentTimeouts {
  /** For connecting to the server, including TLS and the welcome. */
  connect: number;
  /** For all targets of a tunnel together. */
  dial: number;
  /** A session that lasted this long resets the backoff. */
  stable: number;
}

/**
 * Agents with a second connection return over this time: all agents of an edge lose it in the same moment, and each handshake
 * costs the other edges a millisecond.
 */
const SERVED_SPREAD_MS = 5_000;

const DEFAULT_TIMEOUTS: AgentTimeouts = { connect: 10_000, dial: 10_000, stable: 10_000 };
/** Errors that another attempt would not change. */
const FINAL: ReadonlySet<TunnelErrorCode> = new Set(['unauthorized', 'server_key', 'version', 'replaced']);

export type AgentStatus =
  | { state: 'connecting' }
  | { state: 'online'; clientId: number; via: ServerRoute['kind'] }
  /** The next attempt starts in `retryMs`. */
  | { state: 'waiting'; reason: TunnelError; retryMs: number }
  /** The agent will not connect again. */
  | { state: 'stopped'; reason: TunnelError };

export interface AgentEvents {
  status?(status: AgentStatus): void;
  configured?(config: Readonly<ConfigMessage>): void;
  /** The server is replacing its key: the agent must be started with this key string the next time. */
  keyChanged?(key: string): void;
  flowClosed?(record: FlowRecord): void;
}

/** Everything the agent gets from outside. */
export interface TunnelAgentEnvironment {
  /** The server's port for agents. */
  server: HostAndPort;
  /** Absent: `auto`. */
  transport?: AgentTransport;
  /** The server's address for WebSockets. Absent: `/__gw/agent` on port 443 of its host, over TLS. */
  websocket?: WebSocketAddress;
  /** Key string, as the gateway's console shows it. */
  key: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** From 0 to below 1. Absent: `Math.random`. */
  random?: () => number;
  logger: TunnelLogger;
  /** Absent: connects directly. */
  dialer?: AgentDialer;
  /**
   * Called for each address that a target's name resolves to. Absent: every target that the server names is allowed.
   */
  allows?: (target: HostAndPort, address: string) => boolean;
  /** Directories that tunnels of mode `file` may serve, including everything below them. Absent: none. */
  fileRoots?: readonly string[];
  datagrams?: Partial<DatagramLimits>;
  /** Whether visitors of tunnels of mode `p2p` may connect directly. Absent: yes, unless a dialer is set. */
  p2p?: boolean;
  /** Refuses a server that asks for unsealed data channels. Absent: the server decides. */
  requireEncryption?: boolean;
  /** Name and version of the program. */
  software?: string;
  /** Whether other agents may serve the client beside this one. Absent: this one replaces all others. */
  replica?: boolean;
  events?: AgentEvents;
  timeouts?: Partial<AgentTimeouts>;
}

/** What a connection needs to know of the agent that it belongs to. */
export interface ConnectionPlace {
  /** Unique for each run of the agent. */
  agentId: string;
  /** Number among the connections of the agent. */
  slot: number;
  /** TLS sessions of the agent. */
  memory: TlsMemory;
  /** The server has sent the edges of its gateway. */
  edges(edges: EdgesMessage): void;
  /** Whether another connection of the agent serves visitors meanwhile. */
  isServed(): boolean;
  /** After the loss of a connection: an edge that should be tried before the server's configured address. */
  prefers?(): HostAndPort | null;
}

/** An agent's connection to one server: keeps a control connection and carries visitors to their targets. */
export class AgentConnection {
  private readonly environment: TunnelAgentEnvironment;
  private readonly place: ConnectionPlace;
  private readonly timeouts: AgentTimeouts;
  private readonly secret: string;
  private readonly pinned: PinnedServer;
  private readonly dialer: AgentDialer;
  private readonly routes: RouteChooser;
  private readonly ledger: FlowLedger;
  private readonly channels: AgentChannels;
  private readonly backoff: Backoff;
  /** Set once `disabled` was logged, so that it is not logged again on every retry. */
  private knowsDisabled = false;
  private readonly random: () => number;
  /** The session that the server has welcomed. */
  private current: AgentSession | null = null;
  /** A second session that is connecting while the agent moves, beside `current`. */
  private next: AgentSession | null = null;
  private timer: NodeJS.Timeout | null = null;
  /** A wrong server key on one route, kept while the other route is tried. */
  private wrongKey: TunnelError | null = null;
  /** The server asked for a new connection, which `timer` starts. */
  private moving = false;
  private epoch = 0;
  /** Whether the warning about unencrypted data was logged. */
  private warned = false;
  private stopped = false;
  private readonly onIdle = new Set<() => void>();
  status: AgentStatus = { state: 'connecting' };

  /** @throws TunnelError `key_string`. */
  constructor(environment: TunnelAgentEnvironment, place: ConnectionPlace) {
    this.environment = environment;
    this.place = place;
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...environment.timeouts };
    const key = parseAgentKey(environment.key);
    const { secret } = key;
    this.secret = secret;
    const routeTag = agentRouteTag(agentKeyHash(secret));
    this.pinned = new PinnedServer(pinsOf(key), routeTag, place.memory);
    this.dialer = environment.dialer ?? systemDialer;
    const { server, websocket, transport = 'auto', now } = environment;
    this.routes = new RouteChooser({ dialer: this.dialer, server, transport, websocket, routeTag, now });
    this.random = environment.random ?? Math.random;
    this.backoff = new Backoff(this.random);
    this.ledger = new FlowLedger(environment.now, (record) => this.flowClosed(record));
    this.channels = this.createChannels();
  }

  start(): void {
    if (!this.stopped && !this.next && !this.current && !this.timer) this.connect();
  }

  /** Number of running connections. */
  get flows(): number {
    return this.ledger.size;
  }

  /** What was carried since the last call. */
  takeDeltas(): FlowDelta[] {
    return this.ledger.takeDeltas();
  }

  /** Accepts no more visitors, waits `graceMs` at most for the current ones, then closes everything. */
  async stop(graceMs = 0): Promise<void> {
    const reason = new TunnelError('stopped', 'the agent was stopped');
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    this.next?.close(reason);
    this.current?.leave();
    this.channels.paths.close(graceMs);
    if (graceMs > 0) await this.channels.leave(graceMs);
    this.channels.closeIdle();
    if (this.ledger.size > 0 && graceMs > 0) await this.waitForFlows(graceMs);
    this.ledger.stop(() => true);
    this.channels.paths.close();
    this.current?.close(reason);
    this.channels.closeIdle();
    this.channels.datagrams.close();
    this.report({ state: 'stopped', reason });
  }

  /** Null where only WebSockets or a custom dialer lead out: no direct path is possible there. */
  private get rendezvousAt(): HostAndPort | null {
    const { server, transport, dialer, p2p = dialer === undefined } = this.environment;
    return p2p && transport !== 'websocket' ? server : null;
  }

  private createChannels(): AgentChannels {
    const { environment, timeouts } = this;
    return new AgentChannels({
      pinned: this.pinned,
      dialer: this.dialer,
      ledger: this.ledger,
      logger: environment.logger,
      now: environment.now,
      connectMs: timeouts.connect,
      dialMs: timeouts.dial,
      fileRoots: environment.fileRoots ?? [],
      rendezvousAt: this.rendezvousAt,
      datagrams: environment.datagrams,
      allows: (target, address) => environment.allows?.(target, address) ?? true,
    });
  }

  private connect(): void {
    this.timer = null;
    this.moving = false;
    if (this.stopped || this.next) return;
    if (!this.current && !this.knowsDisabled) this.report({ state: 'connecting' });
    const { environment, place, pinned, secret, timeouts } = this;
    this.epoch += 1;
    const { server, software = 'gatehouse-agent', requireEncryption = false, replica = false } = environment;
    const route = this.routes.next();
    const preferred = this.current ? null : place.prefers?.();
    if (preferred) route.nearTo?.(preferred);
    const options = {
      route,
      pinned,
      secret,
      agentId: place.agentId,
      slot: place.slot,
      epoch: this.epoch,
      software,
      replica,
      connectMs: timeouts.connect,
      requireEncryption,
    };
    const owner: ChannelOwner = {
      clientId: 0,
      encrypt: true,
      route,
      refuse: (resource, channel, reason) => session.refuse({ ...resource, channel, reason }),
      send: (message) => session.send(message),
    };
    const session: AgentSession = new AgentSession(options, {
      welcomed: ({ clientId, encrypt, packetPort = server.port, nextFingerprint }) => {
        // The server's key announcement counts only for the key that it has shown.
        if (!session.resumed) this.learn(nextFingerprint);
        Object.assign(owner, { clientId, encrypt });
        if (!encrypt && route.kind === 'websocket') this.warnOfPlainData();
        const { address, exportKeys } = session;
        this.channels.datagrams.connected(owner, {
          server: { ...server, port: packetPort },
          address,
          exportKeys,
          renew: () => session === this.current && this.moveWithin(0),
        });
        this.welcomed(session, clientId);
        this.channels.paths.connected(owner);
      },
      configured: (config) => this.configured(session, config),
      tickets: (tickets) => this.channels.open(tickets, owner),
      path: (order) => {
        if (order.type === 'rendezvous') this.channels.paths.asked(order, owner);
        else this.channels.paths.end(order.id, order.graceMs);
      },
      move: (spreadMs) => this.moveWithin(spreadMs),
      edges: (edges) => {
        const own = edges.edges.find(({ id }) => id === edges.own);
        if (own) route.nearTo?.({ host: own.host, port: own.port });
        place.edges(edges);
      },
      closed: (error, retryAfterMs) => {
        this.channels.sessionOver(owner);
        this.channels.datagrams.disconnected(owner);
        this.channels.paths.disconnected(owner);
        this.closed(session, error, retryAfterMs);
      },
    });
    this.next = session;
  }

  private learn(next: string | undefined): void {
    const [fingerprint, nextFingerprint] = this.pinned.learn(next ?? null) ?? [];
    if (fingerprint === undefined) return;
    this.environment.events?.keyChanged?.(formatAgentKey({ secret: this.secret, fingerprint, nextFingerprint }));
  }

  private warnOfPlainData(): void {
    if (this.warned) return;
    this.warned = true;
    this.environment.logger.warn(
      'data channels are not encrypted, and whatever ends the TLS of the WebSocket can read and change them: switch encrypt on for this client',
    );
  }

  private moveWithin(spreadMs: number): void {
    this.moving = true;
    this.connectIn(this.random() * spreadMs);
  }

  private connectIn(delayMs: number): void {
    if (this.stopped) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setFlowTimeout(null, () => this.connect(), delayMs);
  }

  private welcomed(session: AgentSession, clientId: number): void {
    const before = this.current;
    this.routes.welcomed(session.route.kind);
    this.wrongKey = null;
    this.current = session;
    this.next = null;
    this.knowsDisabled = false;
    before?.close(new TunnelError('replaced', 'the agent moved to a new connection'));
    const timer = setFlowTimeout(null, () => this.current === session && this.backoff.reset(), this.timeouts.stable);
    timer.unref();
    this.report({ state: 'online', clientId, via: session.route.kind });
  }

  private configured(session: AgentSession, config: ConfigMessage): void {
    if (session !== this.current) return;
    this.channels.configure(config);
    this.environment.events?.configured?.(config);
  }

  private closed(session: AgentSession, error: TunnelError, retryAfterMs: number | null): void {
    if (session !== this.current && session !== this.next) return;
    if (session === this.current) this.current = null;
    else this.next = null;
    if (this.stopped) return;
    // A newer connection of this agent is being made, and may be the reason why this one was ended.
    if (this.next) return;
    if (isOfTheWay(error) && !session.welcome) {
      if (error.code === 'server_key') this.wrongKey = error;
      if (this.routes.failed(session.route.kind)) return this.connectIn(0);
    }
    const final = FINAL.has(error.code) ? error : this.wrongKey;
    if (final && !this.current) return this.giveUp(final);
    // The next attempt reaches the process that has the port by then, so there is no reason to wait.
    if (this.moving) return;
    // The server kept the agent waiting for its client to be enabled and will do so again: no backoff is needed.
    const waits = error.code === 'disabled' && retryAfterMs !== null;
    const retryMs = waits ? retryAfterMs * (1 + this.random()) : this.backoff.next(retryAfterMs ?? 0, this.spreadMs);
    if (!this.current && !(waits && this.knowsDisabled)) this.report({ state: 'waiting', reason: error, retryMs });
    this.knowsDisabled = waits;
    this.connectIn(retryMs);
  }

  private get spreadMs(): number {
    return this.place.isServed() ? SERVED_SPREAD_MS : 0;
  }

  private giveUp(reason: TunnelError): void {
    this.stopped = true;
    this.next?.close(reason);
    this.channels.paths.close();
    if (this.timer) clearTimeout(this.timer);
    this.report({ state: 'stopped', reason });
  }

  private flowClosed(record: FlowRecord): void {
    this.environment.events?.flowClosed?.(record);
    if (this.ledger.size === 0) for (const done of this.onIdle) done();
  }

  private waitForFlows(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const { onIdle } = this;
      const timer = setFlowTimeout(null, done, graceMs);
      onIdle.add(done);
      function done(): void {
        clearTimeout(timer);
        onIdle.delete(done);
        resolve();
      }
    });
  }

  private report(status: AgentStatus): void {
    this.status = status;
    this.environment.events?.status?.(status);
  }
}
