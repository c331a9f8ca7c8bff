import type { TLSSocket } from 'node:tls';
import { setFlowInterval, setFlowTimeout } from '@gatehouse/net';
import type { ClientRecord, ClientStore, TunnelLogger } from '../environment.js';
import { TunnelError, type TunnelErrorCode } from '../errors.js';
import { agentKeyHash, sameHash } from '../wire/key-string.js';
import {
  PROTOCOL_VERSION,
  type AgentHost,
  type AgentTunnel,
  type AuthMessage,
  type CarriedMessage,
  type CloseCode,
  type Message,
  type PathStateMessage,
  type RefusedMessage,
  type RendezvousEndMessage,
  type RendezvousMessage,
  type ChannelTicket,
  type EdgesMessage,
} from '../wire/messages.js';
import { ChannelPool, type PoolLimits } from './channel-pool.js';
import { AgentWatch } from './agent-watch.js';
import { ControlLink } from './control-link.js';
import type { Arrival } from './arrival.js';
import type { TicketTable } from './ticket-table.js';

/** Pause after a failure of the server's own. */
const RETRY_SOON_MS = 1000;
/** Pause before a disabled client's agent waits on its next connection; see `park`. */
const RETRY_PARKED_MS = 250;
/** Pause where too many agents wait already. */
const RETRY_LATE_MS = 30_000;

/** Agents that connected together should not reconnect together. */
const RENEW_SPREAD_MS = 60_000;
const RENEW_SPREAD_SHARE = 10;

const NO_CONTEXT = Buffer.alloc(0);

/** Shared by the sessions of one server. */
export interface SessionContext {
  store: ClientStore;
  logger: TunnelLogger;
  tickets: TicketTable;
  poolLimits: PoolLimits;
  now: () => number;
  handshakeMs: number;
  /** How long the agent of a disabled client waits on one connection. */
  parkMs: number;
  heartbeatMs: number;
  /** Age of a connection at which the agent is asked to make another. */
  renewMs: number;
  /** Whether one more agent of a disabled client may wait on its connection. */
  mayPark(): boolean;
  /** Sent to agents where UDP has a port of its own. */
  packetPort(): number | null;
  /** Fingerprint of the key that the agent must learn; see `WelcomeMessage`. */
  nextFor(stream: TLSSocket): string | undefined;
  /** Number of connected agents. */
  agents(): number;
  /** Makes the session a current one of its client. Throws to refuse it. */
  admit(session: ServerSession): void;
  /** The agent was sent its welcome. */
  welcomed(session: ServerSession): void;
  /** The agent has fallen silent, or speaks again. */
  answering(session: ServerSession, answers: boolean): void;
  /** It is silent for so long that visitors should not wait for it. */
  lost(session: ServerSession): void;
  /** The agent no longer serves its client. */
  sessionEnded(session: ServerSession, error: TunnelError): void;
  /** The connection has ended, authenticated or not. */
  closed(session: ServerSession): void;
  refused(session: ServerSession, message: RefusedMessage): void;
  /** A message about a direct path. */
  path(session: ServerSession, message: PathStateMessage | CarriedMessage): void;
}

/** An agent that has authenticated. */
export interface AgentIdentity {
  client: ClientRecord;
  agentId: string;
  epoch: number;
  software: string;
  /** Number of this connection among those of the same run. */
  slot: number;
  /** Whether other agents may serve the client beside this one. */
  replica: boolean;
  /** Whether it takes sealed records of `MAX_RECORD_BYTES`. */
  longRecords: boolean;
}

/** An accepted control connection. */
export interface AcceptedControl {
  stream: TLSSocket;
  arrival: Arrival;
  order: number;
  /** Must be called when the agent's key was right. */
  known: () => void;
}

/** The server's end of one control connection, from its first byte. */
export class ServerSession {
  /** Order of connecting to this server: the newest connection wins. */
  readonly order: number;
  readonly arrival: Arrival;
  readonly since: number;
  private readonly context: SessionContext;
  private readonly link: ControlLink;
  private timer: NodeJS.Timeout;
  /** The authentication of a disabled client's agent, kept while it waits for the client to be enabled. */
  private parkedAuth: AuthMessage | null = null;
  private authenticating = false;
  private who: AgentIdentity | null = null;
  private channels: ChannelPool | null = null;
  private sentResources = '';
  leaving = false;
  /** The same agent served the client before, over another connection. */
  continues = false;
  /** Other servers were told not to use the agent, because it is silent. */
  withheld = false;
  /** Made for the first visitor: most agents have none. */
  private watch: AgentWatch | null = null;
  private renewal: NodeJS.Timeout | null = null;
  private readonly stream: TLSSocket;
  private readonly known: () => void;

  constructor({ stream, arrival, order, known }: AcceptedControl, context: SessionContext) {
    this.order = order;
    this.arrival = arrival;
    this.context = context;
    this.stream = stream;
    this.known = known;
    this.since = context.now();
    this.timer = setFlowTimeout(
      stream,
      () => this.end(new TunnelError('timeout', 'no authentication in time')),
      context.handshakeMs,
    );
    this.link = new ControlLink(stream, 'server', {
      message: (message) => this.receive(message),
      heard: () => this.watch?.heard(),
      closed: (error) => this.closed(error),
    });
  }

  /** Only valid for an admitted session. */
  get identity(): AgentIdentity {
    if (!this.who) throw new TunnelError('unauthorized', 'the agent is not authenticated');
    return this.who;
  }

  /** Null before the welcome and after the agent has left. */
  get pool(): ChannelPool | null {
    return this.channels;
  }

  /** Keying material from the connection's TLS (RFC 5705). */
  get exportKeys(): (bytes: number, label: string) => Buffer {
    return (bytes, label) => this.stream.exportKeyingMaterial(bytes, label, NO_CONTEXT);
  }

  get roundTripMs(): number | null {
    return this.link.roundTripMs;
  }

  /** Sends the agent its tunnels and hosts, unless it has them already. */
  configure(revision: number, resources: { tunnels: AgentTunnel[]; hosts: AgentHost[] }): void {
    const text = JSON.stringify(resources);
    if (text === this.sentResources || this.link.closed) return;
    this.sentResources = text;
    this.link.send({ type: 'config', revision, ...resources });
  }

  move(spreadMs: number): void {
    this.link.send({ type: 'move', spreadMs });
  }

  /** Limits how long keys are used: the agent makes another connection, with new keys, and closes this one. */
  renew(): void {
    this.move(Math.min(RENEW_SPREAD_MS, this.context.renewMs / RENEW_SPREAD_SHARE));
  }

  send(message: RendezvousMessage | RendezvousEndMessage | EdgesMessage): void {
    this.link.send(message);
  }

  /** A visitor needs the agent, of this server or of another one. */
  visited(): void {
    this.watch ??= new AgentWatch(this.stream, {
      ping: () => this.link.ping(),
      answers: (value) => this.answering(value),
      lost: () => this.context.lost(this),
    });
    this.watch.visited();
  }

  /** Asks the agent to open data channels. */
  deliver(tickets: ChannelTicket[]): void {
    this.link.send({ type: 'channels', tickets });
  }

  /** Ends the session. The agent is sent the reason if it can act on it. */
  end(error: TunnelError, retryAfterMs = retryAfter(error.code)): void {
    const code = CLOSE_CODE[error.code];
    this.link.close(error, code && { type: 'close', code, message: error.message, retryAfterMs });
  }

  get parked(): boolean {
    return this.parkedAuth !== null;
  }

  /** The configuration changed: the client of a waiting agent may have been enabled. */
  lookAgain(): void {
    if (this.parkedAuth === null || this.link.closed) return;
    this.authenticate(this.parkedAuth).catch((error: unknown) => this.failed(error));
  }

  private receive(message: Message): void {
    if (message.type === 'auth' && !this.authenticating) {
      this.authenticating = true;
      this.authenticate(message).catch((error: unknown) => this.failed(error));
    } else if (message.type === 'refused' && this.who) this.context.refused(this, message);
    else if (message.type === 'pathState' || message.type === 'carried') this.said(message);
    else if (message.type === 'leaving' && this.who) this.leave();
    else throw new TunnelError('protocol', `${message.type} out of turn`);
  }

  private said(message: PathStateMessage | CarriedMessage): void {
    if (!this.who) throw new TunnelError('protocol', `${message.type} out of turn`);
    this.context.path(this, message);
  }

  private async authenticate(auth: AuthMessage): Promise<void> {
    if (!auth.versions.includes(PROTOCOL_VERSION)) {
      throw new TunnelError('version', `this server speaks version ${PROTOCOL_VERSION} of the protocol`);
    }
    const keyHash = agentKeyHash(auth.secret);
    const client = await this.context.store.findByKeyHash(keyHash);
    if (this.link.closed) return;
    if (!client || !sameHash(client.keyHash, keyHash)) throw new TunnelError('unauthorized', 'the key is not known');
    this.known();
    if (!client.enabled) return this.park(auth);
    this.parkedAuth = null;
    const { agentId, epoch, software, slot = 0, replica = false, longRecords = false } = auth;
    this.who = { client, agentId, epoch, software, slot, replica, longRecords };
    this.welcome(client, longRecords);
  }

  /**
   * Delays the answer to a disabled client's agent, for less time than agents wait for one, so that it is served as
   * soon as the client is enabled. After that it is refused, and reconnects at once to wait again.
   */
  private park(auth: AuthMessage): void {
    if (this.parkedAuth !== null) return;
    if (!this.context.mayPark()) {
      return this.end(clientDisabled(), RETRY_LATE_MS);
    }
    this.parkedAuth = auth;
    clearTimeout(this.timer);
    this.timer = setFlowTimeout(this.stream, () => this.end(clientDisabled()), this.context.parkMs);
  }

  private welcome(client: ClientRecord, longRecords: boolean): void {
    const { context, link } = this;
    clearTimeout(this.timer);
    context.admit(this);
    const { heartbeatMs } = context;
    const packetPort = context.packetPort();
    const nextFingerprint = context.nextFor(this.stream);
    link.send({
      type: 'welcome',
      version: PROTOCOL_VERSION,
      clientId: client.id,
      heartbeatMs,
      encrypt: client.encrypt,
      ...(packetPort !== null && { packetPort }),
      ...(nextFingerprint !== undefined && { nextFingerprint }),
    });
    this.channels = new ChannelPool({
      tickets: context.tickets,
      limits: context.poolLimits,
      now: context.now,
      sealed: client.encrypt,
      longRecords,
      quiet: context.agents() > context.poolLimits.quietAbove,
      deliver: (tickets) => this.deliver(tickets),
      visited: () => this.visited(),
      heard: () => this.watch?.heard(),
    });
    link.startHeartbeat(heartbeatMs, () => this.channels?.sweep());
    // Repeated, because an agent that cannot connect at the moment keeps this connection.
    this.renewal = setFlowInterval(this.stream, () => this.renew(), context.renewMs);
    context.welcomed(this);
  }

  private answering(value: boolean): void {
    this.channels?.setSilent(!value);
    if (this.channels) this.context.answering(this, value);
  }

  private failed(error: unknown): void {
    if (error instanceof TunnelError) return this.end(error);
    this.context.logger.error('an agent could not be authenticated', { error: String(error) });
    this.end(new TunnelError('overloaded', 'the server cannot look up keys at the moment', { cause: error }));
  }

  private leave(): void {
    this.leaving = true;
    this.closeChannels(new TunnelError('offline', 'the agent is leaving'));
    this.context.sessionEnded(this, new TunnelError('stopped', 'the agent is leaving'));
  }

  private closed(error: TunnelError): void {
    clearTimeout(this.timer);
    this.watch?.end();
    if (this.renewal) clearInterval(this.renewal);
    this.closeChannels(new TunnelError('offline', 'the agent is gone', { cause: error }));
    if (this.who) this.context.sessionEnded(this, error);
    this.context.closed(this);
  }

  private closeChannels(error: TunnelError): void {
    this.channels?.close(error);
    this.channels = null;
  }
}

export function clientDisabled(): TunnelError {
  return new TunnelError('disabled', 'the client is disabled or expired');
}

/**
 * Reasons that are sent to the agent. For the others there is no agent to send them to, or nothing that it could do.
 */
const CLOSE_CODE: Partial<Record<TunnelErrorCode, CloseCode>> = {
  unauthorized: 'unauthorized',
  disabled: 'disabled',
  kicked: 'kicked',
  version: 'version',
  replaced: 'replaced',
  draining: 'draining',
  overloaded: 'overloaded',
  stopped: 'stopped',
};

function retryAfter(code: TunnelErrorCode): number | null {
  if (code === 'disabled') return RETRY_PARKED_MS;
  return code === 'kicked' || code === 'draining' || code === 'overloaded' ? RETRY_SOON_MS : null;
}
