import type { Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { FRAME, sessionOf, type DatagramTransport, type FrameHandler } from './frames.js';
import { PacketTransport } from './packet-transport.js';
import { PathWatch } from './path-watch.js';
import { PacketOpener, PacketSealer, packetLink, type PacketKeys } from './sealed-packets.js';
import { closeUdp, createUdpSocket, hasRoom } from '../base/udp-socket.js';

/** NATs drop an idle UDP mapping after 30 seconds or more. */
const KEEP_ALIVE_MS = 15_000;
const BUSY_PROBE_MS = 5000;
/** Interval while sessions have to use TCP. */
const LOST_PROBE_MS = 2000;

export interface AgentLinkOptions {
  server: HostAndPort;
  /** Remote address of the control connection: used if the server's name resolves to it, too. */
  address: string | null;
  keys: PacketKeys;
  logger: TunnelLogger;
  now: () => number;
  /** Packets that are sealed with one key. Absent: as many as the cipher allows. */
  packetsPerKey?: number | undefined;
  /** The keys are almost used up: a new control connection is needed. */
  renew(): void;
  frame(transport: DatagramTransport, ...frame: Parameters<FrameHandler>): void;
}

/** The agent's UDP socket for one control connection. The server decides whether it is used. */
export class AgentLink {
  private readonly options: AgentLinkOptions;
  private readonly packets: PacketTransport;
  private readonly watch: PathWatch;
  private socket: Socket | null = null;
  private closed = false;

  constructor(options: AgentLinkOptions) {
    this.options = options;
    const { keys, now, packetsPerKey } = options;
    const onSpent = (): void => options.renew();
    this.packets = new PacketTransport({
      sealer: new PacketSealer(keys.link, keys.agent, { most: packetsPerKey, onSpent }),
      opener: new PacketOpener(keys.server, { onSpent }),
      now,
      transmit: (parts) => this.transmit(parts),
      frame: (type, body) => this.receive(type, body),
    });
    this.watch = new PathWatch(this.packets, now);
    this.open().catch((error: unknown) => options.logger.debug('no UDP to the server', { error: String(error) }));
  }

  /** Null: packets do not get through to the server at the moment. */
  get transport(): DatagramTransport | null {
    return this.watch.peerGood && !this.packets.exhausted ? this.packets : null;
  }

  /** Must be called regularly. */
  tick(busy: boolean): void {
    if (!this.socket) return;
    const busyMs = this.watch.peerGood ? BUSY_PROBE_MS : LOST_PROBE_MS;
    this.watch.tick(busy ? busyMs : KEEP_ALIVE_MS);
  }

  /** The server reports that packets do not get through. */
  lost(): void {
    this.watch.peerGood = false;
    if (this.socket) this.watch.ask();
  }

  close(): void {
    this.closed = true;
    if (this.socket) closeUdp(this.socket);
    this.socket = null;
  }

  /** @throws Error of the resolver or the socket. */
  private async open(): Promise<void> {
    const { server, address, keys } = this.options;
    const found = await lookup(server.host, { all: true });
    const chosen = found.find((known) => known.address === address) ?? found[0];
    if (!chosen || this.closed) return;
    const socket = createUdpSocket({ address: chosen.address });
    socket.on('message', (packet) => {
      if (packetLink(packet) === keys.link) this.packets.receive(packet);
    });
    socket.connect(server.port, chosen.address, () => {
      if (this.closed) return closeUdp(socket);
      this.socket = socket;
      this.watch.ask();
    });
  }

  private transmit(parts: Buffer[]): void {
    if (this.socket && hasRoom(this.socket)) this.socket.send(parts);
  }

  private receive(type: number, body: Buffer): void {
    if (type === FRAME.probe) this.watch.probe(sessionOf(body), body);
    else if (type === FRAME.probed) this.watch.probed(sessionOf(body), body);
    else {
      // Implied: the server sends datagrams this way.
      this.watch.peerGood = true;
      this.options.frame(this.packets, type, body);
    }
  }
}
