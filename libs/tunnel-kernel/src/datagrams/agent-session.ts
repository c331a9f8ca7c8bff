import { encodeSocksAddress, type RelayEndReason } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import type { Flow } from '../flow-ledger.js';
import { FRAME, NOTHING, type DatagramTransport, type SessionOpening } from './frames.js';
import type { Outlet } from './target-outlet.js';

export interface AgentSessionOptions {
  id: number;
  opening: SessionOpening;
  flow: Flow;
  /** Put before each payload to the target: who the visitor is. Empty: nothing. */
  header: Buffer;
  /** Of the tunnel when the session began. */
  mode: string;
  /** `addressed` datagrams only, or none of them. */
  addressed: boolean;
  now: () => number;
  /** The way back to the server, `arrived` being the one that the visitor's last datagram took. */
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

  /** Where the datagrams go; before the first of them. */
  attach(outlet: Outlet): void {
    this.outlet = outlet;
  }

  get mode(): string {
    return this.options.mode;
  }

  get out(): Outlet | null {
    return this.outlet;
  }

  /** From the visitor. */
  receive(transport: DatagramTransport, payload: Buffer, destination: HostAndPort | null): void {
    const { now, header, addressed } = this.options;
    this.arrived = transport;
    this.usedAt = now();
    // Where a tunnel has targets, no one else is sent to.
    if ((destination !== null) !== addressed) return;
    this.flow.counter.upload += payload.length;
    this.outlet?.send(header.length > 0 ? Buffer.concat([header, payload]) : payload, destination);
  }

  /** To the visitor. */
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
