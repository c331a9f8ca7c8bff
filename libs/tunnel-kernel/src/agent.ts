import { randomUUID } from 'node:crypto';
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
import { PinnedServer } from './session/pinned-tls.js';
import { isOfTheWay, RouteChooser, type AgentTransport } from './session/route-chooser.js';
import type { ServerRoute } from './session/server-route.js';
import { agentKeyHash, formatAgentKey, parseAgentKey, pinsOf } from './wire/key-string.js';
import { agentRouteTag } from './wire/route-tag.js';
import type { WebSocketAddress } from './websocket/handshake.js';
import type { ConfigMessage } from './wire/messages.js';

/** All in milliseconds. */
export interface AgentTimeouts {
  /** For a connection to the server, TLS and welcome included. */
  connect: number;
  /** For all targets of a tunnel together. */
  dial: number;
  /** A session that lasted this long makes the next attempts quick again. */
  stable: number;
}

const DEFAULT_TIMEOUTS: AgentTimeouts = { connect: 10_000, dial: 10_000, stable: 10_000 };
/** What trying again would not change. */
const FINAL: ReadonlySet<TunnelErrorCode> = new Set(['unauthorized', 'server_key', 'version', 'replaced']);

export type AgentStatus =
  | { state: 'connecting' }
  | { state: 'online'; clientId: number; via: ServerRoute['kind'] }
  /** The next attempt is due in `retryMs`. */
  | { state: 'waiting'; reason: TunnelError; retryMs: number }
  /** It will not connect again. */
  | { state: 'stopped'; reason: TunnelError };

export interface AgentEvents {
  status?(status: AgentStatus): void;
  configured?(config: Readonly<ConfigMessage>): void;
  /** The server exchanges its key: the agent needs this key string in place of its own when it is started the next time. */
  keyChanged?(key: string): void;
  flowClosed?(record: FlowRecord): void;
}

/** Everything the agent takes from outside. */
export interface TunnelAgentEnvironment {
  /** Its port for agents. */
  server: HostAndPort;
  /** Absent: `auto`. */
  transport?: AgentTransport;
  /** Where the server takes WebSockets. Absent: `/__gw/agent` on port 443 of its host, in TLS. */
  websocket?: WebSocketAddress;
  /** Key string, as the server's administration shows it. */
  key: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** From 0 to below 1. Absent: `Math.random`. */
  random?: () => number;
  logger: TunnelLogger;
  /** Absent: directly. */
  dialer?: AgentDialer;
  /** Asked about each address that a target's name leads to. Absent: every target that the server names. */
  allows?: (target: HostAndPort, address: string) => boolean;
  /** Directories that tunnels of mode `file` may serve, with what is below them. Absent: none. */
  fileRoots?: readonly string[];
  datagrams?: Partial<DatagramLimits>;
  /** Whether visitors of tunnels of mode `p2p` may connect directly. Absent: without a dialer they may. */
  p2p?: boolean;
  /** Refuses a server that wants data channels that are not sealed. Absent: it is the server's to say. */
  requireEncryption?: boolean;
  /** Name and version of the program. */
  software?: string;
  events?: AgentEvents;
  timeouts?: Partial<AgentTimeouts>;
}

/** The tunnel's agent: keeps one control connection to its server and carries visitors to targets. */
export class TunnelAgent {
  private readonly environment: TunnelAgentEnvironment;
  private readonly timeouts: AgentTimeouts;
  private readonly agentId = randomUUID();
  private readonly secret: string;
  private readonly pinned: PinnedServer;
  private readonly dialer: AgentDialer;
  private readonly routes: RouteChooser;
  private readonly ledger: FlowLedger;
  private readonly channels: AgentChannels;
  private readonly backoff: Backoff;
  /** It was said that the client is disabled; saying so each time that the agent asks again helps nobody. */
  private knowsDisabled = false;
  private readonly random: () => number;
  /** Welcomed by the server. */
  private current: AgentSession | null = null;
  /** On its way; beside `current` while the agent moves. */
  private next: AgentSession | null = null;
  private timer: NodeJS.Timeout | null = null;
  /** From one way to the server, while the other is tried. */
  private wrongKey: TunnelError | null = null;
  /** The server asked for another connection, which is due at `timer`. */
  private moving = false;
  private epoch = 0;
  /** Of data that others can read. */
  private warned = false;
  private stopped = false;
  private onIdle: (() => void) | null = null;
  status: AgentStatus = { state: 'connecting' };

  /** @throws TunnelError `key_string`. */
  constructor(environment: TunnelAgentEnvironment) {
    this.environment = environment;
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...environment.timeouts };
    const key = parseAgentKey(environment.key);
    const { secret } = key;
    this.secret = secret;
    const routeTag = agentRouteTag(agentKeyHash(secret));
    this.pinned = new PinnedServer(pinsOf(key), routeTag);
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

  /** Connections that run. */
  get flows(): number {
    return this.ledger.size;
  }

  /** What moved since the last call. */
  takeDeltas(): FlowDelta[] {
    return this.ledger.takeDeltas();
  }

  /** Takes no more visitors, waits `graceMs` at most for those that are there, then ends everything. */
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

  /** There is no direct path where only WebSockets, or somebody's dialer, lead out. */
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
    const { environment, pinned, secret, agentId, timeouts } = this;
    this.epoch += 1;
    const { server, software = 'gatehouse-agent', requireEncryption = false } = environment;
    const route = this.routes.next();
    const options = {
      route,
      pinned,
      secret,
      agentId,
      epoch: this.epoch,
      software,
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
        // What the server says about its keys belongs to the key that it showed.
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
    // A newer connection of this agent is on its way, and may be why this one was ended.
    if (this.next) return;
    if (isOfTheWay(error) && !session.welcome) {
      if (error.code === 'server_key') this.wrongKey = error;
      if (this.routes.failed(session.route.kind)) return this.connectIn(0);
    }
    const final = FINAL.has(error.code) ? error : this.wrongKey;
    if (final && !this.current) return this.giveUp(final);
    // It goes to whoever has the port by then: there is nothing to wait for.
    if (this.moving) return;
    // The server has let it wait for the client to be enabled, and goes on with that: there is nothing to back off from.
    const waits = error.code === 'disabled' && retryAfterMs !== null;
    const retryMs = waits ? retryAfterMs * (1 + this.random()) : this.backoff.next(retryAfterMs ?? 0);
    if (!this.current && !(waits && this.knowsDisabled)) this.report({ state: 'waiting', reason: error, retryMs });
    this.knowsDisabled = waits;
    this.connectIn(retryMs);
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
    if (this.ledger.size === 0) this.onIdle?.();
  }

  private waitForFlows(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private report(status: AgentStatus): void {
    this.status = status;
    this.environment.events?.status?.(status);
  }
}
