import { encodeSocksAddress, type RelayEndReason } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import type { Flow } from '../flow-ledger.js';
import { FRAME, NOTHING, type DatagramTransport, type SessionOpening } from './frames.js';
import type { Outlet } from './target-outlet.js';

export interface AgentSessionOptions {
  id: number;
  opening: SessionOpening;
  flow: Flow;
  /** Prefix of each payload to the target, which names the visitor; may be empty. */
  header: Buffer;
  /** Mode of the tunnel when the session began. */
  mode: string;
  /** Whether all datagrams are `addressed`; otherwise none may be. */
  addressed: boolean;
  now: () => number;
  /** The transport back to the server; `arrived` is the one that carried the visitor's last datagram. */
  wayBack: (id: number, arrived: DatagramTransport) => DatagramTransport;
  ended: (session: AgentDatagramSession, reason: RelayEndReason) => void;
}

/** The agent's end of one visitor's datagrams. */
export class AgentDatagramSession {
  readonly id: number;
  readonly opening: SessionOpening;
  readonly flow: Flow;
  private readonly options: AgentSessionOptions;
  private outlet: Outlet | null = null;
  private arrived: DatagramTransport;
  private usedAt: number;
  private ended = false;

  constructor(options: AgentSessionOptions, transport: DatagramTransport) {
    this.id = options.id;
    this.opening = options.opening;
    this.flow = options.flow;
    this.options = options;
    this.arrived = transport;
    this.usedAt = options.now();
  }

  /** Sets where the datagrams go; called before the first of them. */
  attach(outlet: Outlet): void {
    this.outlet = outlet;
  }

  get mode(): string {
    return this.options.mode;
  }

  get out(): Outlet | null {
    return this.outlet;
  }

  /** A datagram from the visitor. */
  receive(transport: DatagramTransport, payload: Buffer, destination: HostAndPort | null): void {
    const { now, header, addressed } = this.options;
    this.arrived = transport;
    this.usedAt = now();
    // A tunnel with targets sends to no other destination.
    if ((destination !== null) !== addressed) return;
    this.flow.counter.upload += payload.length;
    this.outlet?.send(header.length > 0 ? Buffer.concat([header, payload]) : payload, destination);
  }

  /** A datagram to the visitor. */
  answer(payload: Buffer, source: HostAndPort | null): void {
    const { now, wayBack } = this.options;
    this.usedAt = now();
    if (this.ended) return;
    const transport = wayBack(this.id, this.arrived);
    this.flow.counter.download += payload.length;
    if (source) transport.put(FRAME.addressed, this.id, encodeSocksAddress(source), payload);
    else transport.put(FRAME.datagram, this.id, NOTHING, payload);
  }

  idleSince(now: number): number {
    return now - this.usedAt;
  }

  end(reason: RelayEndReason, notify: boolean): void {
    if (this.ended) return;
    if (notify) this.options.wayBack(this.id, this.arrived).put(FRAME.closed, this.id, NOTHING, NOTHING);
    this.ended = true;
    this.outlet?.close();
    this.options.ended(this, reason);
  }
}
