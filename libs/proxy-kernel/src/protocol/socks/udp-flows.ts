import { isIP } from 'node:net';
import { setFlowInterval, setFlowTimeout } from '@gatehouse/net';
import {
  DialError,
  type CloseReason,
  type ConnectionMetadata,
  type Flow,
  type FlowRoute,
  type InboundContext,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { targetFields } from '../stream-session.js';

/** Targets of one association at once; the one longest quiet makes room. */
const MAX_FLOWS = 512;
/** Datagrams held while a flow is being routed and opened. */
const MAX_WAITING = 32;

export interface UdpSource {
  ip: string;
  port: number;
  user: string | null;
  /** Port that the client's TCP connection came in by. */
  inboundPort: number;
}

interface UdpFlow {
  flow: Flow;
  target: Target;
  /** What the client asked for, where that was an address that stands for a name. */
  standsFor: Target | null;
  packets: PacketConnection | null;
  waiting: Buffer[];
  lastActiveAt: number;
}

/**
 * The flows of one UDP association: one a target, each routed and recorded on its own, all that take the same way on
 * one packet connection (so that a peer sees one source port, as behind a full-cone NAT).
 */
export class UdpFlows {
  private readonly context: InboundContext;
  private readonly source: UdpSource;
  private readonly deliver: (payload: Buffer, from: Target) => void;
  /** By target; the order is that of last use. */
  private readonly flows = new Map<string, UdpFlow>();
  private readonly connections = new Map<string, Promise<PacketConnection>>();
  private readonly sweeper: NodeJS.Timeout;
  private closed = false;

  constructor(context: InboundContext, source: UdpSource, deliver: (payload: Buffer, from: Target) => void) {
    this.context = context;
    this.source = source;
    this.deliver = deliver;
    this.sweeper = setFlowInterval(null, () => this.sweep(), Math.max(10, context.timeouts.udpIdle / 4));
    this.sweeper.unref();
  }

  send(payload: Buffer, target: Target): void {
    if (this.closed || target.port === 0) return;
    const key = keyOf(target);
    const known = this.flows.get(key) ?? this.open(key, target);
    this.touch(key, known);
    if (known.packets) transmit(known, known.packets, payload);
    else if (known.waiting.length < MAX_WAITING) known.waiting.push(payload);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.sweeper);
    for (const key of this.flows.keys()) this.end(key, 'client_closed');
    for (const connection of this.connections.values())
      connection.then(
        (packets) => packets.close(),
        () => undefined,
      );
    this.connections.clear();
  }

  private open(key: string, target: Target): UdpFlow {
    const [oldest] = this.flows.keys();
    if (oldest !== undefined && this.flows.size >= MAX_FLOWS) this.end(oldest, 'idle');
    const flow = this.context.dispatcher.begin(this.metadata(target), (reason) => this.end(key, reason));
    const standsFor = flow.metadata.host !== null && isIP(target.host) !== 0 ? target : null;
    const opened: UdpFlow = { flow, target, standsFor, packets: null, waiting: [], lastActiveAt: 0 };
    this.flows.set(key, opened);
    const { dial } = this.context.timeouts;
    const late = new DialError('dial', 'timeout', `no way out within ${dial} ms`);
    const timer = setFlowTimeout(null, () => this.fail(key, opened, late), dial);
    this.dial(key, opened)
      .catch((error: unknown) => this.fail(key, opened, error))
      .finally(() => clearTimeout(timer));
    return opened;
  }

  private async dial(key: string, opened: UdpFlow): Promise<void> {
    const { flow } = opened;
    const route = await flow.route();
    const packets = await this.connection(route, flow);
    if (this.flows.get(key) !== opened) return;
    flow.opened(undefined);
    opened.packets = packets;
    // The flow knows the name where the client asked for an address that stands for one.
    const host = flow.metadata.host ?? opened.target.host;
    const { rule, resolvedIps: ips } = route.decision;
    opened.target = { ...opened.target, host, ips, ...(rule && { ruleIndex: rule.index }) };
    for (const payload of opened.waiting.splice(0)) transmit(opened, packets, payload);
  }

  private connection({ outbound, key }: FlowRoute, flow: Flow): Promise<PacketConnection> {
    const known = this.connections.get(key);
    if (known) return known;
    if (!outbound.openPackets) return Promise.reject(new Error(`${outbound.tag} carries no UDP`));
    const opening = outbound.openPackets({ signal: flow.signal });
    this.connections.set(key, opening);
    opening.then(
      (packets) => this.attach(key, packets),
      () => this.connections.delete(key),
    );
    return opening;
  }

  private attach(key: string, packets: PacketConnection): void {
    if (this.closed) return packets.close();
    packets.onMessage((payload, from) => this.received(packets, payload, from));
    packets.onClose((error) => {
      this.connections.delete(key);
      for (const [target, { packets: used }] of this.flows) {
        if (used === packets) this.end(target, error ? 'error' : 'remote_closed', error);
      }
    });
  }

  private received(packets: PacketConnection, payload: Buffer, from: Target): void {
    const key = keyOf(from);
    const exact = this.flows.get(key);
    const [owner, found] = exact?.packets === packets ? [key, exact] : this.likelyOwner(packets, from);
    if (!found) return;
    this.touch(owner, found);
    found.flow.counter.download += payload.length;
    this.deliver(payload, found.standsFor ?? from);
  }

  /** A target asked for by name answers from its address: the latest flow on that port, else the latest of all. */
  private likelyOwner(packets: PacketConnection, from: Target): [string, UdpFlow | null] {
    const candidates = [...this.flows].filter(([, flow]) => flow.packets === packets).reverse();
    const samePort = candidates.find(
      ([, { target, flow }]) => target.port === from.port && flow.metadata.host !== null,
    );
    return samePort ?? candidates[0] ?? ['', null];
  }

  private fail(key: string, opened: UdpFlow, error: unknown): void {
    if (this.flows.get(key) === opened) this.end(key, 'error', error);
  }

  private end(key: string, closeReason: CloseReason, error?: unknown): void {
    const known = this.flows.get(key);
    if (!known) return;
    this.flows.delete(key);
    known.flow.finish({ closeReason, error });
  }

  private touch(key: string, flow: UdpFlow): void {
    flow.lastActiveAt = performance.now();
    this.flows.delete(key);
    this.flows.set(key, flow);
  }

  private sweep(): void {
    const limit = performance.now() - this.context.timeouts.udpIdle;
    for (const [key, { lastActiveAt }] of this.flows) {
      if (lastActiveAt > limit) return;
      this.end(key, 'idle');
    }
  }

  private metadata(target: Target): ConnectionMetadata {
    return {
      network: 'udp',
      type: 'Socks5',
      sourceIp: this.source.ip,
      sourcePort: this.source.port,
      inboundName: this.context.config.name,
      inboundPort: this.source.inboundPort,
      inboundUser: this.source.user,
      ...targetFields(target.host),
      destinationPort: target.port,
    };
  }
}

function transmit({ flow, target }: UdpFlow, packets: PacketConnection, payload: Buffer): void {
  flow.counter.upload += payload.length;
  packets.send(payload, target);
}

function keyOf({ host, port }: Target): string {
  return `${host}|${port}`;
}
