import type { RemoteInfo, Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import type { ListeningSockets } from '@gatehouse/net';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { packetLink } from './sealed-packets.js';
import { closeUdp, createUdpSocket, hasRoom } from '../base/udp-socket.js';

/** Receives the packets of one link. */
export interface PacketReceiver {
  receive(packet: Buffer, from: RemoteInfo): void;
}

/** The UDP port beside the agents' TCP port. */
export class PacketSocket {
  private readonly logger: TunnelLogger;
  private readonly sockets: ListeningSockets;
  private readonly links = new Map<number, PacketReceiver>();
  private socket: Socket | null = null;
  /** 0: none. */
  port = 0;

  constructor(logger: TunnelLogger, sockets: ListeningSockets) {
    this.logger = logger;
    this.sockets = sockets;
  }

  /** Without the port, datagrams use data channels, so a failure is only a warning. */
  async listen({ host, port }: HostAndPort): Promise<void> {
    try {
      const { address } = await lookup(host);
      const socket = createUdpSocket({ address });
      socket.on('message', (packet, from) => this.receive(packet, from));
      this.port = await this.sockets.bindUdp(socket, address, { host, port });
      this.socket = socket;
    } catch (error) {
      this.logger.warn('no UDP port for agents: datagrams will take TCP', { host, port, error: String(error) });
    }
  }

  get open(): boolean {
    return this.socket !== null;
  }

  /** False if another link uses this number: this link then gets no packets. */
  add(link: number, receiver: PacketReceiver): boolean {
    if (this.links.has(link)) return false;
    this.links.set(link, receiver);
    return true;
  }

  remove(link: number, receiver: PacketReceiver): void {
    if (this.links.get(link) === receiver) this.links.delete(link);
  }

  send(parts: Buffer[], to: RemoteInfo): void {
    if (this.socket && hasRoom(this.socket)) this.socket.send(parts, to.port, to.address);
  }

  close(): void {
    if (this.socket) closeUdp(this.socket);
    this.socket = null;
  }

  private receive(packet: Buffer, from: RemoteInfo): void {
    const link = packetLink(packet);
    // Port 0 cannot be answered, and Node throws for the attempt.
    if (link !== null && from.port !== 0) this.links.get(link)?.receive(packet, from);
  }
}
