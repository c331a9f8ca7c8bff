import { randomInt } from 'node:crypto';
import { type ByteStream, failFlow, guarded, type ListeningSockets, type RelayEndReason } from '@gatehouse/net';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import type { FlowLedger } from '../flow-ledger.js';
import type { StartOf } from '../session/channel-source.js';
import { AgentRoute } from './agent-route.js';
import type { DatagramSession, DatagramSessionOptions, DatagramSessions } from './datagram-sessions.js';
import { decodeAddress, FRAME, SESSION_BYTES, sessionOf } from './frames.js';
import { PacketSocket } from './packet-socket.js';
import { packetKeys } from './sealed-packets.js';
import { SessionShares } from './session-shares.js';
import { ServerDatagramSession, type DatagramDrops, type ServerSessionContext } from './server-session.js';

const TICK_MS = 250;
/** The source address of a session without an answer may be forged. */
const UNANSWERED_MS = 10_000;

export interface ServerDatagramsOptions {
  now: () => number;
  logger: TunnelLogger;
  sockets: ListeningSockets;
  ledger: FlowLedger;
  /** Upper bound for sessions of the whole server. */
  maxSessions: number;
  /** An agent with a round trip below this, in milliseconds, gets its datagrams over data channels. */
  nearMs: number;
  openChannel(clientId: number, start: StartOf): Promise<ByteStream>;
  /** Whether an agent of the client is connected to another server. */
  isElsewhere(clientId: number): boolean;
  /** Packets that are sealed with one key. Absent: as many as the cipher allows. */
  packetsPerKey?: number | undefined;
  /** Asks the client's agent for a new control connection, with new keys. */
  renew(clientId: number): void;
}

/** State of the server's datagrams; counts since its start. */
export interface DatagramState extends DatagramDrops {
  sessions: number;
  /** Sessions that were evicted for others. */
  evicted: number;
  /** Forged or duplicated packets at the UDP port, for agents that are connected. */
  rejected: number;
  /** Whether agents may send UDP. */
  packets: boolean;
}

/** The server's side of datagrams: sessions of visitors, and the routes to agents. */
export class ServerDatagrams implements DatagramSessions {
  private readonly options: ServerDatagramsOptions;
  private readonly packetSocket: PacketSocket;
  private readonly sessions = new Map<number, ServerDatagramSession>();
  private readonly shares: SessionShares<ServerDatagramSession>;
  private readonly routes = new Map<number, AgentRoute>();
  private readonly context: ServerSessionContext;
  private readonly drops: DatagramDrops = { noRoute: 0, overRate: 0, tooLong: 0 };
  /** Starts at random, because agents keep sessions across servers and numbers must not collide. */
  private nextId = randomInt(2 ** 32);
  private timer: NodeJS.Timeout | null = null;

  constructor(options: ServerDatagramsOptions) {
    this.options = options;
    this.packetSocket = new PacketSocket(options.logger, options.sockets);
    this.shares = new SessionShares(options.maxSessions);
    this.context = {
      now: options.now,
      unansweredMs: UNANSWERED_MS,
      answered: (session) => this.shares.answered(session),
      drops: this.drops,
      routeOf: (clientId) => this.routes.get(clientId) ?? null,
      ended: (session, reason) => this.ended(session, reason),
    };
  }

  listen(address: HostAndPort): Promise<void> {
    return this.packetSocket.listen(address);
  }

  /** The port for packets of agents; 0: none. */
  get port(): number {
    return this.packetSocket.port;
  }

  /** Releases the UDP port; sessions continue over data channels. */
  closePort(): void {
    this.packetSocket.close();
  }

  state(): DatagramState {
    let rejected = 0;
    for (const route of this.routes.values()) rejected += route.rejected;
    return {
      ...this.drops,
      sessions: this.sessions.size,
      evicted: this.shares.evicted,
      rejected,
      packets: this.packetSocket.open,
    };
  }

  /** Whether UDP packets get through to the client's agent. */
  viaPackets(clientId: number): boolean {
    return this.routes.get(clientId)?.viaPackets ?? false;
  }

  open(options: DatagramSessionOptions): DatagramSession {
    const { resource, clientId, visitor } = options.admitted;
    if (!this.routes.has(clientId) && this.options.isElsewhere(clientId)) this.addRoute(clientId, null, true);
    if (!this.routes.has(clientId)) {
      this.drops.noRoute += 1;
      throw new TunnelError('offline', 'no agent carries datagrams of this client');
    }
    this.shares.makeRoom(clientId, visitor.address);
    const flow = this.options.ledger.open(resource, clientId, visitor);
    const session = new ServerDatagramSession(this.freeId(), flow, options, this.context);
    // Each datagram asks for the current rate, so `limit` is not needed.
    flow.handle = { stop: () => session.end('stopped') };
    this.sessions.set(session.id, session);
    this.shares.add(session);
    this.timer ??= setInterval(
      guarded(null, () => this.tick()),
      TICK_MS,
    ).unref();
    return session;
  }

  /** A new connection serves the client; `exportKeys` is null where it has no TLS of its own. */
  agentCame(clientId: number, exportKeys: ((bytes: number, label: string) => Buffer) | null): void {
    this.addRoute(clientId, exportKeys, false);
  }

  private addRoute(
    clientId: number,
    exportKeys: ((bytes: number, label: string) => Buffer) | null,
    elsewhere: boolean,
  ): void {
    this.routes.get(clientId)?.close();
    const route: AgentRoute = new AgentRoute({
      elsewhere,
      keys: exportKeys && packetKeys(exportKeys),
      packetSocket: this.packetSocket,
      now: this.options.now,
      nearMs: this.options.nearMs,
      openChannel: (start) => this.options.openChannel(clientId, start),
      frame: (type, body) => this.receive(clientId, route, type, body),
      packetsPerKey: this.options.packetsPerKey,
      renew: () => this.options.renew(clientId),
    });
    this.routes.set(clientId, route);
  }

  /** Sessions stay, because the agent may be back in a moment. */
  agentLeft(clientId: number): void {
    this.routes.get(clientId)?.close();
    this.routes.delete(clientId);
  }

  /** One of several agents of the client has left or is leaving, here or at another server. */
  oneLeft(clientId: number): void {
    this.routes.get(clientId)?.leaveStreams();
  }

  private receive(clientId: number, route: AgentRoute, type: number, body: Buffer): void {
    const session = this.sessions.get(sessionOf(body));
    // An agent may only act for visitors of its own client.
    if (!session || session.clientId !== clientId) return;
    if (type === FRAME.datagram) session.receive(body.subarray(SESSION_BYTES), null);
    else if (type === FRAME.addressed) {
      const { address, end } = decodeAddress(body);
      session.receive(body.subarray(end), address);
    } else if (type === FRAME.opened) session.opened(route);
    else if (type === FRAME.closed) session.forgotten();
  }

  private tick(): void {
    const now = this.options.now();
    const busy = new Set<number>();
    for (const session of this.sessions.values()) if (!expired(session, now)) busy.add(session.clientId);
    let transports = false;
    for (const [clientId, route] of this.routes) {
      if (busy.has(clientId)) route.tick();
      else transports = route.rest() || transports;
    }
    if (this.sessions.size > 0 || transports || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  private ended(session: ServerDatagramSession, reason: RelayEndReason): void {
    this.sessions.delete(session.id);
    this.shares.delete(session);
    this.options.ledger.close(session.flow, { reason });
  }

  private freeId(): number {
    do this.nextId = (this.nextId + 1) >>> 0;
    while (this.sessions.has(this.nextId));
    return this.nextId;
  }
}

/** An error in one session must not affect the others. */
function expired(session: ServerDatagramSession, now: number): boolean {
  try {
    return session.expire(now);
  } catch (error) {
    failFlow({ destroy: () => session.end('stopped') }, 'datagram session', error);
    return true;
  }
}
