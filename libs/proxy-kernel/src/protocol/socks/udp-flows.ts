import { isIP } from 'node:net';
import { guardPromise, setFlowInterval, setFlowTimeout } from '@gatehouse/net';
import {
  DialError,
  type CloseReason,
  type ConnectionMetadata,
  type Flow,
  type FlowRoute,
  type InboundContext,
  type Login,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { loginFields, targetFields } from '../stream-session.js';
import { UdpWay, keyOf } from './udp-way.js';

/** The most targets of one source port; the one that was idle longest is dropped. */
const MAX_FLOWS = 512;
/** The most packet connections for them. Flows share one if their answers can be distinguished. */
const MAX_WAYS = 64;
/** Datagrams that wait while a flow is being routed and opened. */
const MAX_WAITING = 32;

export interface UdpSource {
  ip: string;
  port: number;
  login: Login;
  /** The port of the listener that the client's TCP connection came to. */
  inboundPort: number;
}

interface UdpFlow {
  key: string;
  flow: Flow;
  target: Target;
  /** The requested target, if it was an address that stands for a name. */
  standsFor: Target | null;
  way: UdpWay<UdpFlow> | null;
  waiting: Buffer[];
  lastActiveAt: number;
}

/**
 * The flows of one source port of a client: one for each target, each routed and recorded separately. Flows with the
 * same outbound share a packet connection, so that a peer sees one source port, as behind a full-cone NAT. The
 * exception is two flows whose answers come from one address, or from addresses that only a node knows: the client must
 * get each answer from the target it asked.
 */
export class UdpFlows {
  private readonly context: InboundContext;
  private readonly source: UdpSource;
  private readonly deliver: (payload: Buffer, from: Target) => void;
  /** By target, in order of last use. */
  private readonly flows = new Map<string, UdpFlow>();
  /** By outbound. */
  private readonly ways = new Map<string, Set<Promise<UdpWay<UdpFlow>>>>();
  private wayCount = 0;
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
    if (known.way) transmit(known, known.way, payload);
    else if (known.waiting.length < MAX_WAITING) known.waiting.push(payload);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.sweeper);
    for (const key of this.flows.keys()) this.end(key, 'client_closed');
    for (const opening of [...this.ways.values()].flatMap((ways) => [...ways])) this.closeWay(opening);
    this.ways.clear();
  }

  private open(key: string, target: Target): UdpFlow {
    const [oldest] = this.flows.keys();
    if (oldest !== undefined && this.flows.size >= MAX_FLOWS) this.end(oldest, 'idle');
    const flow = this.context.dispatcher.begin(this.metadata(target), (reason) => this.end(key, reason));
    const standsFor = flow.metadata.host !== null && isIP(target.host) !== 0 ? target : null;
    const opened: UdpFlow = { key, flow, target, standsFor, way: null, waiting: [], lastActiveAt: 0 };
    this.flows.set(key, opened);
    const { dial } = this.context.timeouts;
    const late = new DialError('dial', 'timeout', `no connection within ${dial} ms`);
    const timer = setFlowTimeout(null, () => this.fail(key, opened, late), dial);
    this.dial(key, opened)
      .catch((error: unknown) => this.fail(key, opened, error))
      .finally(() => clearTimeout(timer));
    return opened;
  }

  private async dial(key: string, opened: UdpFlow): Promise<void> {
    const { flow } = opened;
    const route = await flow.route();
    // If the client asked for an address that stands for a name, the flow has the name.
    const host = flow.metadata.host ?? opened.target.host;
    const { rule, resolvedIps: ips } = route.decision;
    const target = { ...opened.target, host, ips, ...(rule && { ruleIndex: rule.index }) };
    const way = await this.wayFor(route, opened, target);
    if (this.flows.get(key) !== opened) return this.leave(opened, way);
    flow.opened(undefined);
    opened.way = way;
    opened.target = target;
    for (const payload of opened.waiting.splice(0)) transmit(opened, way, payload);
  }

  /** A connection on which the flow's answers can be identified. @throws DialError. */
  private async wayFor({ outbound, key }: FlowRoute, opened: UdpFlow, target: Target): Promise<UdpWay<UdpFlow>> {
    const isNamed = isIP(target.host) === 0;
    for (;;) {
      for (const opening of this.ways.get(key) ?? []) {
        const way = await opening;
        const sources = await way.sourcesOf(target, isNamed);
        if (way.enter(opened, sources, this.wayCount >= MAX_WAYS)) return way;
      }
      if (!outbound.openPackets) throw new Error(`${outbound.tag} carries no UDP`);
      // By then another flow may have become the first on it.
      await this.openWay(key, outbound.openPackets({ signal: opened.flow.signal }));
    }
  }

  private openWay(key: string, packets: Promise<PacketConnection>): Promise<UdpWay<UdpFlow>> {
    const ways = this.ways.get(key) ?? new Set();
    const isExtra = ways.size > 0;
    const opening = packets.then((connection) => this.attach(new UdpWay<UdpFlow>(connection, isExtra), forget));
    const forget = (): void => {
      if (ways.delete(opening)) this.wayCount -= 1;
    };
    this.ways.set(key, ways.add(opening));
    this.wayCount += 1;
    opening.catch(forget);
    return opening;
  }

  private attach(way: UdpWay<UdpFlow>, forget: () => void): UdpWay<UdpFlow> {
    const { packets } = way;
    packets.onMessage((payload, from) => this.received(way, payload, from));
    packets.onClose((error) => {
      forget();
      for (const [target, { way: used }] of this.flows) {
        if (used === way) this.end(target, error ? 'error' : 'remote_closed', error);
      }
    });
    if (this.closed) packets.close();
    return way;
  }

  private closeWay(opening: Promise<UdpWay<UdpFlow>>): void {
    guardPromise(
      null,
      opening.then(
        ({ packets }) => packets.close(),
        () => undefined,
      ),
    );
  }

  private received(way: UdpWay<UdpFlow>, payload: Buffer, from: Target): void {
    const owner = way.ownerOf(from);
    if (!owner) return;
    const { flow, asked } = owner;
    this.touch(flow.key, flow);
    if (!mayCarry(flow.flow, payload)) return;
    flow.flow.counter.download += payload.length;
    this.deliver(payload, asked && flow.standsFor ? flow.standsFor : from);
  }

  /** The first connection of an outbound is kept for its port; additional ones are closed. */
  private leave(opened: UdpFlow, way: UdpWay<UdpFlow>): void {
    way.leave(opened);
    if (way.isExtra && way.isUnused) way.packets.close();
  }

  private fail(key: string, opened: UdpFlow, error: unknown): void {
    if (this.flows.get(key) === opened) this.end(key, 'error', error);
  }

  private end(key: string, closeReason: CloseReason, error?: unknown): void {
    const known = this.flows.get(key);
    if (!known) return;
    this.flows.delete(key);
    if (known.way) this.leave(known, known.way);
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
      ...loginFields(this.source.login),
      ...targetFields(target.host),
      destinationPort: target.port,
    };
  }
}

/** A datagram above the user's rate is dropped, as a slow line would do. */
function mayCarry({ throttle }: Flow, payload: Buffer): boolean {
  return throttle?.tryTake(payload.length) ?? true;
}

function transmit(opened: UdpFlow, way: UdpWay<UdpFlow>, payload: Buffer): void {
  if (!mayCarry(opened.flow, payload)) return;
  opened.flow.counter.upload += payload.length;
  way.sends(opened);
  way.packets.send(payload, opened.target);
}
