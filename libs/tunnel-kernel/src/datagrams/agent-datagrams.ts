import { guarded, guardPromise } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import type { ChannelHandler, ChannelOwner, HandlerContext, StartedChannel } from '../agent/channel-handler.js';
import type { KnownTunnel } from '../agent/agent-resources.js';
import { TunnelError } from '../errors.js';
import type { ResourceRef } from '../resource.js';
import type { DialFailure } from '../wire/messages.js';
import { datagramProxyHeader } from '../wire/proxy-header.js';
import { AgentLink } from './agent-link.js';
import { AgentDatagramSession } from './agent-session.js';
import { DestinationOutlet } from './destination-outlet.js';
import { EarlyFrames, type ArrivedFrame } from './early-frames.js';
import {
  ANSWER_HERE,
  decodeAddress,
  decodeOpening,
  FRAME,
  NOTHING,
  SESSION_BYTES,
  sessionOf,
  type DatagramTransport,
  type SessionOpening,
} from './frames.js';
import { packetKeys } from './sealed-packets.js';
import { StreamTransport } from './stream-transport.js';
import { TargetOutlet, type Outlet, type OutletOptions } from './target-outlet.js';

const TICK_MS = 250;
/** Upper bound for stream transports of one server. */
const MAX_STREAM_TRANSPORTS = 16;
/** Interval at which a failing target is reported to the server. */
const REPORT_INTERVAL_MS = 1000;
/** Modes whose datagrams go to the tunnel's own targets; in the second one the visitor's port decides which. */
const TARGET_MODES: ReadonlySet<string> = new Set(['udp', 'udp_range']);
/** Modes whose visitors name a destination with each datagram. */
const ADDRESSED_MODES: ReadonlySet<string> = new Set(['socks5', 'mix_proxy']);
const PROXY_VERSION = 2;

export interface DatagramLimits {
  /** Concurrent sessions: each has one or two sockets. */
  sessions: number;
  /** Idle timeout of a session in milliseconds, longer than that of servers. */
  idleMs: number;
  /** False: datagrams use TCP only. */
  packets: boolean;
  /** Packets that are sealed with one key before the agent reconnects. Absent: as many as the cipher allows. */
  packetsPerKey?: number;
}

export const DEFAULT_DATAGRAM_LIMITS: DatagramLimits = { sessions: 8192, idleMs: 75_000, packets: true };

/** What datagrams need of the control connection. */
export interface DatagramServer {
  server: HostAndPort;
  /** The remote address of the control connection. */
  address: string | null;
  /** Null where the connection has no TLS of its own. */
  exportKeys: ((bytes: number, label: string) => Buffer) | null;
  /** Asks for a new control connection, with new keys. */
  renew: () => void;
}

export type AgentDatagramsContext = Omit<HandlerContext, 'fileRoots'> & { limits: DatagramLimits };

/** The agent's side of datagrams: one socket for each visitor. Sessions outlive connections to the server. */
export class AgentDatagrams implements ChannelHandler {
  private readonly context: AgentDatagramsContext;
  private readonly sessions = new Map<number, AgentDatagramSession>();
  /** True: another server's channel, whose frames are answered over it. */
  private readonly transports = new Map<StreamTransport, boolean>();
  private readonly early = new EarlyFrames();
  private link: { owner: ChannelOwner; link: AgentLink } | null = null;
  private readonly reportedAt = new Map<number, number>();
  private timer: NodeJS.Timeout | null = null;

  constructor(context: AgentDatagramsContext) {
    this.context = context;
  }

  /** The agent is connected: tries UDP beside the control connection. */
  connected(owner: ChannelOwner, { server, address, exportKeys, renew }: DatagramServer): void {
    this.link?.link.close();
    this.link = null;
    this.startTimer();
    if (!exportKeys || !this.context.limits.packets) return;
    const { logger, now } = this.context;
    const keys = packetKeys(exportKeys);
    const link = new AgentLink({
      server,
      address,
      keys,
      logger,
      now,
      packetsPerKey: this.context.limits.packetsPerKey,
      renew,
      frame: (transport, type, body) => this.receive({ owner, transport, type, body }),
    });
    this.link = { owner, link };
  }

  disconnected(owner: ChannelOwner): void {
    if (this.link?.owner !== owner) return;
    this.link.link.close();
    this.link = null;
  }

  /** Serves a data channel that the server opened for datagrams. */
  async serve({ start, stream, reader, owner }: StartedChannel): Promise<void> {
    if (this.transports.size >= MAX_STREAM_TRANSPORTS) return void stream.destroy();
    const transport: StreamTransport = new StreamTransport({
      frame: (type, body) => this.receive({ owner, transport, type, body }),
      closed: () => this.transports.delete(transport),
    });
    this.transports.set(transport, start.id === ANSWER_HERE);
    transport.attach(stream, reader?.detach());
  }

  /** After a new configuration: ends the sessions whose destination is no longer allowed. */
  configured(): void {
    for (const session of this.sessions.values()) {
      const known = this.known(session.opening);
      const goesOn =
        known?.tunnel.mode === session.mode && session.out?.reconfigured(known.targets.of(portOf(session.opening)));
      if (!goesOn) session.end('stopped', true);
    }
  }

  close(): void {
    this.link?.link.close();
    this.link = null;
    for (const transport of this.transports.keys()) transport.close();
    this.early.clear();
    for (const session of this.sessions.values()) session.end('stopped', false);
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  /** @throws TunnelError `protocol`. */
  private receive(frame: ArrivedFrame): void {
    const { transport, type, body } = frame;
    if (type === FRAME.useStreams) return this.isElsewhere(transport) ? undefined : this.link?.link.lost();
    const id = sessionOf(body);
    if (this.early.hold(id, frame)) return;
    if (type === FRAME.open) return this.open(id, frame);
    const session = this.sessions.get(id);
    if (type === FRAME.closed) session?.end('client_closed', false);
    else if (!session) transport.put(FRAME.closed, id, NOTHING, NOTHING);
    else if (type === FRAME.datagram) session.receive(transport, body.subarray(SESSION_BYTES), null);
    else if (type === FRAME.addressed) {
      const { address, end } = decodeAddress(body);
      session.receive(transport, body.subarray(end), address);
    }
  }

  private open(id: number, frame: ArrivedFrame): void {
    const { owner, transport, body } = frame;
    const opening = decodeOpening(body);
    const before = this.sessions.get(id);
    const { tunnelId } = opening;
    if (before && sameOpening(before.opening, opening)) {
      return transport.put(FRAME.opened, id, NOTHING, NOTHING);
    }
    // The number was used by a session of another server.
    before?.end('stopped', false);
    const known = this.known(opening);
    if (!known) return guardPromise(null, this.openWhenKnown(id, opening, frame));
    if (!TARGET_MODES.has(known.tunnel.mode) && !ADDRESSED_MODES.has(known.tunnel.mode)) {
      return this.refuse(owner, tunnelId, 'unknown_tunnel');
    }
    if (this.sessions.size >= this.context.limits.sessions) return this.refuse(owner, tunnelId, 'other');
    const session = this.createSession(owner, known, { id, opening, transport });
    this.sessions.set(id, session);
    session.attach(this.outlet(owner, known, session));
    transport.put(FRAME.opened, id, NOTHING, NOTHING);
  }

  /** The tunnel of a session. Undefined as well for a port that is not one of its range, or not yet. */
  private known(opening: SessionOpening): KnownTunnel | undefined {
    const known = this.context.resources.tunnel(opening.tunnelId);
    return known?.targets.lead(portOf(opening)) === true ? known : undefined;
  }

  private async openWhenKnown(id: number, opening: SessionOpening, first: ArrivedFrame): Promise<void> {
    if (!this.early.begin(id, first)) return;
    const { tunnelId } = opening;
    const destination = portOf(opening);
    await this.context.resources.arrival({ kind: 'tunnel', id: tunnelId, target: null, destination });
    const frames = this.early.take(id);
    // The agent was stopped.
    if (frames.length === 0) return;
    if (!this.known(opening)) return this.refuse(first.owner, tunnelId, 'unknown_tunnel');
    for (const frame of frames) this.receiveLate(frame);
  }

  /** The stream's reader has stopped by now, so errors must be handled here. */
  private receiveLate(frame: ArrivedFrame): void {
    try {
      this.receive(frame);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      if (frame.transport instanceof StreamTransport) frame.transport.close();
    }
  }

  private createSession(
    { clientId }: ChannelOwner,
    { tunnel }: KnownTunnel,
    { id, opening, transport }: { id: number; opening: SessionOpening; transport: DatagramTransport },
  ): AgentDatagramSession {
    const { ledger, now } = this.context;
    const { visitor, entrance } = opening;
    const flow = ledger.open({ kind: 'tunnel', id: tunnel.id }, clientId, visitor);
    const proxied = TARGET_MODES.has(tunnel.mode) && tunnel.proxyProtocol === PROXY_VERSION;
    const session = new AgentDatagramSession(
      {
        id,
        opening,
        flow,
        mode: tunnel.mode,
        header: proxied ? datagramProxyHeader(visitor, entrance) : NOTHING,
        addressed: ADDRESSED_MODES.has(tunnel.mode),
        now,
        wayBack: (number, arrived) => this.wayBack(number, arrived),
        ended: (ended, reason) => {
          if (this.sessions.get(id) === ended) this.sessions.delete(id);
          ledger.close(flow, { reason });
        },
      },
      transport,
    );
    flow.handle = { stop: () => session.end('stopped', true) };
    return session;
  }

  private outlet(owner: ChannelOwner, { tunnel, targets }: KnownTunnel, session: AgentDatagramSession): Outlet {
    const { now, allows } = this.context;
    const addressed = ADDRESSED_MODES.has(tunnel.mode);
    const options: OutletOptions = {
      now,
      allows: (target, address) => (!addressed || this.permits(tunnel.id, target, address)) && allows(target, address),
      onDatagram: (payload, source) => session.answer(payload, source),
      onFailure: (reason, { host, port }) => {
        this.context.logger.debug('datagrams do not arrive', { tunnel: tunnel.id, host, port, reason });
        // A visitor's unreachable destination is not a failure of the tunnel.
        if (!addressed) this.refuse(owner, tunnel.id, reason);
      },
    };
    const picker = addressed ? null : targets.at(portOf(session.opening));
    return picker ? new TargetOutlet(picker, options) : new DestinationOutlet(options);
  }

  /** Follows the tunnel's current rules. */
  private permits(tunnelId: number, target: HostAndPort, address: string): boolean {
    const destinations = this.context.resources.tunnel(tunnelId)?.destinations;
    return destinations !== undefined && (destinations.empty || destinations.match(target, address));
  }

  private refuse(owner: ChannelOwner, tunnelId: number, reason: DialFailure): void {
    const now = this.context.now();
    if (now - (this.reportedAt.get(tunnelId) ?? Number.NEGATIVE_INFINITY) < REPORT_INTERVAL_MS) return;
    this.reportedAt.set(tunnelId, now);
    const resource: ResourceRef = { kind: 'tunnel', id: tunnelId };
    owner.refuse(resource, '', reason);
  }

  /** Packets if the server says that they arrive, else the transport of the last datagram, or any other. */
  private wayBack(id: number, arrived: DatagramTransport): DatagramTransport {
    if (this.isElsewhere(arrived)) return arrived;
    const packets = this.link?.link.transport;
    if (packets) return packets;
    if (arrived instanceof StreamTransport && !arrived.closed) return arrived;
    const open = [...this.transports].filter(([, elsewhere]) => !elsewhere);
    return open[id % open.length]?.[0] ?? arrived;
  }

  private isElsewhere(transport: DatagramTransport): boolean {
    return transport instanceof StreamTransport && this.transports.get(transport) === true;
  }

  private tick(): void {
    const { now, limits } = this.context;
    const at = now();
    this.link?.link.tick(this.sessions.size > 0);
    for (const session of this.sessions.values()) {
      if (session.idleSince(at) >= limits.idleMs) session.end('idle', true);
    }
    for (const [tunnel, reported] of this.reportedAt)
      if (at - reported >= REPORT_INTERVAL_MS) this.reportedAt.delete(tunnel);
  }

  private startTimer(): void {
    this.timer ??= setInterval(
      guarded(null, () => this.tick()),
      TICK_MS,
    ).unref();
  }
}

/** The public port, as `PortTargets` takes it. */
function portOf({ entrance }: SessionOpening): string {
  return String(entrance.port);
}

function sameOpening(a: SessionOpening, b: SessionOpening): boolean {
  const sameVisitor = a.visitor.address === b.visitor.address && a.visitor.port === b.visitor.port;
  return sameVisitor && a.tunnelId === b.tunnelId && a.entrance.port === b.entrance.port;
}
