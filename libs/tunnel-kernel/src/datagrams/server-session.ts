import { encodeSocksAddress, type RelayEndReason } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import type { Flow } from '../flow-ledger.js';
import type { AgentRoute } from './agent-route.js';
import type { PlacedSession } from './session-shares.js';
import { MAX_DATAGRAM_BYTES, type DatagramSession, type DatagramSessionOptions } from './datagram-sessions.js';
import { encodeOpening, FRAME, NOTHING } from './frames.js';

/** Datagrams that the server dropped, by reason. */
export interface DatagramDrops {
  /** No agent, or no route to it. */
  noRoute: number;
  /** Over the client's rate limit. */
  overRate: number;
  /** Longer than UDP allows. */
  tooLong: number;
}

export interface ServerSessionContext {
  now: () => number;
  /** Idle timeout of a session without any answer, in milliseconds. */
  unansweredMs: number;
  drops: DatagramDrops;
  /** Null: no agent of the client is connected. */
  routeOf: (clientId: number) => AgentRoute | null;
  /** Called at the target's first answer. */
  answered: (session: ServerDatagramSession) => void;
  ended: (session: ServerDatagramSession, reason: RelayEndReason) => void;
}

/** The server's end of one visitor's datagrams. */
export class ServerDatagramSession implements DatagramSession, PlacedSession {
  readonly id: number;
  readonly clientId: number;
  readonly address: string;
  readonly flow: Flow;
  private readonly options: DatagramSessionOptions;
  private readonly context: ServerSessionContext;
  private readonly opening: Buffer;
  /** The connection over which the agent confirmed this session. */
  private openedOn: AgentRoute | null = null;
  usedAt: number;
  answered: boolean;
  private ended = false;

  constructor(id: number, flow: Flow, options: DatagramSessionOptions, context: ServerSessionContext) {
    this.id = id;
    this.flow = flow;
    this.options = options;
    this.context = context;
    const { resource, clientId, visitor } = options.admitted;
    this.clientId = clientId;
    this.address = visitor.address;
    // A session that only `close` ends belongs to a TCP connection, whose source cannot be forged.
    this.answered = options.idleMs === 0;
    this.opening = encodeOpening({ tunnelId: resource.id, visitor, entrance: options.entrance });
    this.usedAt = context.now();
  }

  send(payload: Uint8Array, destination?: HostAndPort): void {
    if (this.ended) return;
    const { drops, routeOf, now } = this.context;
    this.usedAt = now();
    if (payload.length > MAX_DATAGRAM_BYTES) return void (drops.tooLong += 1);
    if (this.overRate(payload.length)) return;
    const route = routeOf(this.clientId);
    const transport = route?.transport(this.id);
    if (!transport) return void (drops.noRoute += 1);
    if (this.openedOn !== route) transport.put(FRAME.open, this.id, this.opening, NOTHING);
    if (destination) transport.put(FRAME.addressed, this.id, encodeSocksAddress(destination), payload);
    else transport.put(FRAME.datagram, this.id, NOTHING, payload);
    this.flow.counter.upload += payload.length;
  }

  /** A datagram from the agent. */
  receive(payload: Uint8Array, source: HostAndPort | null): void {
    if (this.ended) return;
    this.usedAt = this.context.now();
    if (!this.answered) {
      this.answered = true;
      this.context.answered(this);
    }
    if (this.overRate(payload.length)) return;
    this.flow.counter.download += payload.length;
    this.options.onDatagram(payload, source);
  }

  /** The agent confirmed this session. */
  opened(route: AgentRoute): void {
    this.openedOn = route;
  }

  /** The agent has lost this session: the next datagram opens it again. */
  forgotten(): void {
    this.openedOn = null;
  }

  /** Ends the session to make room for another. */
  evict(): void {
    this.end('stopped');
  }

  close(): void {
    this.end('client_closed');
  }

  /** True if the session was idle for too long and has ended. */
  expire(now: number): boolean {
    const { idleMs } = this.options;
    const quietMs = this.answered ? idleMs : Math.min(idleMs, this.context.unansweredMs);
    if (idleMs === 0 || now - this.usedAt < quietMs) return false;
    this.end('idle');
    return true;
  }

  end(reason: RelayEndReason): void {
    if (this.ended) return;
    this.ended = true;
    const route = this.context.routeOf(this.clientId);
    if (route && this.openedOn === route) route.transport(this.id)?.put(FRAME.closed, this.id, NOTHING, NOTHING);
    this.context.ended(this, reason);
    this.options.onClose?.(reason);
  }

  private overRate(bytes: number): boolean {
    const limiter = this.options.admitted.throttle();
    if (!limiter || limiter.tryTake(bytes)) return false;
    this.context.drops.overRate += 1;
    return true;
  }
}
