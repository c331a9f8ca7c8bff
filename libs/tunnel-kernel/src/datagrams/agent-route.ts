import type { RemoteInfo } from 'node:dgram';
import type { ByteStream } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import type { StartOf } from '../session/channel-source.js';
import { ANSWER_HERE, FRAME, NOTHING, sessionOf, type DatagramTransport, type FrameHandler } from './frames.js';
import { AgentAddress } from './agent-address.js';
import type { PacketSocket, PacketReceiver } from './packet-socket.js';
import { PacketTransport } from './packet-transport.js';
import { PathWatch } from './path-watch.js';
import { PacketOpener, PacketSealer, type PacketKeys } from './sealed-packets.js';
import { StreamTransport } from './stream-transport.js';

/** Several streams, so that a lost segment does not delay all visitors. */
const MAX_STREAMS = 4;
const PROBE_MS = 1000;
/** How long the streams of an agent without sessions stay open for the next. */
const STREAM_IDLE_MS = 10_000;
/** Pause after a stream could not be opened. */
const REST_MS = 1000;
/** Quick probes show early whether an agent is near. */
const QUICK_ROUNDS = 3;
/** A near agent stays near until its answers take this many times as long: a busy process is not a long route. */
const FAR_FACTOR = 4;
const NOWHERE = { address: '0.0.0.0', port: 0 };
const STREAM_START: StartOf = {
  kind: 'datagrams',
  id: 0,
  target: null,
  destination: '',
  visitor: NOWHERE,
  entrance: NOWHERE,
};

export interface AgentRouteOptions {
  /** Null: this connection has no keys, and therefore no packets. */
  keys: PacketKeys | null;
  packetSocket: PacketSocket;
  now: () => number;
  /** Whether the agent is connected to another server, over whose channels it must answer. */
  elsewhere: boolean;
  /** An agent with a round trip below this, in milliseconds, gets its datagrams over data channels. */
  nearMs: number;
  /** Opens a data channel of this agent for datagrams. @throws TunnelError */
  openChannel: (start: StartOf) => Promise<ByteStream>;
  frame: FrameHandler;
  /** Packets that are sealed with one key. Absent: as many as the cipher allows. */
  packetsPerKey?: number | undefined;
  /** The keys are almost used up: the agent needs a new control connection. */
  renew(): void;
}

/**
 * The transports of datagrams to one agent: packets while they get through, else streams over data channels. A nearby
 * agent gets streams at once (decision 0047).
 */
export class AgentRoute implements PacketReceiver {
  private readonly options: AgentRouteOptions;
  private readonly packets: PacketTransport | null = null;
  private readonly opener: PacketOpener | null = null;
  private readonly watch: PathWatch | null = null;
  private readonly transports: (StreamTransport | null)[] = Array.from({ length: MAX_STREAMS }, () => null);
  private readonly address: AgentAddress;
  /** Source of the packet that is being read. */
  private from: RemoteInfo | null = null;
  private restUntil = 0;
  private usedAt = 0;
  private lossReported = false;
  private near = false;

  constructor(options: AgentRouteOptions) {
    this.options = options;
    const { keys, packetSocket, now, packetsPerKey } = options;
    const onSpent = (): void => options.renew();
    this.address = new AgentAddress({
      now,
      send: (parts, to) => packetSocket.send(parts, to),
      challenge: (token) => this.packets?.alone(FRAME.probe, token, this.watch?.flags() ?? NOTHING) ?? null,
    });
    if (!keys || !packetSocket.add(keys.link, this)) return;
    this.opener = new PacketOpener(keys.agent, { onSpent });
    this.packets = new PacketTransport({
      sealer: new PacketSealer(keys.link, keys.server, { most: packetsPerKey, onSpent }),
      opener: this.opener,
      now,
      transmit: (parts) => this.address.send(parts),
      frame: (type, body) => this.receiveFrame(type, body),
    });
    this.watch = new PathWatch(this.packets, now, QUICK_ROUNDS);
  }

  /** Whether UDP packets get through. */
  get viaPackets(): boolean {
    return this.watch?.good === true && this.packets?.exhausted === false;
  }

  /** Packets that were forged or duplicated. */
  get rejected(): number {
    return (this.opener?.forged ?? 0) + (this.opener?.replayed ?? 0);
  }

  /** The current transport for a session; null: there is none. */
  transport(session: number): DatagramTransport | null {
    const packets = this.viaPackets ? this.packets : null;
    if (packets && !this.near) return packets;
    this.usedAt = this.options.now();
    const index = session % MAX_STREAMS;
    const transport = this.transports[index] ?? this.openTransport(index);
    // While packets get through, no datagram has to wait for a channel.
    return packets && !transport?.attached ? packets : transport;
  }

  receive(packet: Buffer, from: RemoteInfo): void {
    this.from = from;
    const received = this.packets?.receive(packet, () => this.address.seen(from, packet.length));
    this.from = null;
    if (received && this.watch && !this.watch.good && !this.watch.asking) this.watch.ask();
  }

  /** Must be called regularly while the agent has sessions. */
  tick(): void {
    if (!this.watch) return;
    this.watch.tick(PROBE_MS);
    if (this.watch.good) this.lossReported = false;
    else if (!this.lossReported) this.reportLoss();
  }

  /** Must be called while the agent has no sessions. True while something is left to close. */
  rest(): boolean {
    if (this.options.now() - this.usedAt >= STREAM_IDLE_MS) this.closeTransports();
    return this.transports.some((transport) => transport !== null);
  }

  /** One of several agents leaves, and streams may lead to it: the next datagrams open others. */
  leaveStreams(): void {
    this.closeTransports();
  }

  close(): void {
    this.closeTransports();
    const { keys, packetSocket } = this.options;
    if (keys) packetSocket.remove(keys.link, this);
  }

  private closeTransports(): void {
    for (const transport of this.transports) transport?.close();
  }

  /** The agent cannot know by itself that its packets do not arrive. */
  private reportLoss(): void {
    this.lossReported = true;
    const transport = this.transports.find((open) => open !== null) ?? this.openTransport(0);
    transport?.put(FRAME.useStreams, 0, NOTHING, NOTHING);
  }

  private openTransport(index: number): StreamTransport | null {
    const { now, frame, openChannel, elsewhere } = this.options;
    if (now() < this.restUntil) return null;
    const transport = new StreamTransport({
      frame,
      closed: () => {
        if (this.transports[index] === transport) this.transports[index] = null;
      },
    });
    this.transports[index] = transport;
    openChannel({ ...STREAM_START, id: elsewhere ? ANSWER_HERE : 0 }).then(
      (stream) => transport.attach(stream),
      (error: unknown) => {
        this.restUntil = now() + REST_MS;
        transport.close();
        // Without a channel, datagrams are lost, as on any network.
        if (!(error instanceof TunnelError)) throw error;
      },
    );
    return transport;
  }

  private receiveFrame(type: number, body: Buffer): void {
    if (type === FRAME.probe) this.watch?.probe(sessionOf(body), body);
    else if (type === FRAME.probed) this.probed(body);
    else this.options.frame(type, body);
  }

  private probed(body: Buffer): void {
    const { watch, from } = this;
    if (!watch || !from || this.address.took(sessionOf(body), from)) return;
    if (watch.probed(sessionOf(body), body)) this.address.answered(from);
    this.near = watch.roundTripMs < this.options.nearMs * (this.near ? FAR_FACTOR : 1);
    watch.wanted = !this.near;
  }
}
