import type { RemoteInfo, Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import type { ListeningSockets } from '@gatehouse/net';
import { closeUdp, createUdpSocket, hasRoom } from '../base/udp-socket.js';
import type { HostAndPort } from '../environment.js';
import { endpoint, type Endpoint } from '../base/endpoint.js';
import type { Entrance } from './mode.js';

export interface UdpEntranceHandlers {
  datagram(payload: Buffer, from: RemoteInfo): void;
  failed(error: Error): void;
  closed(): void;
}

/** A public UDP port. */
export class UdpEntrance implements Entrance {
  private readonly sockets: ListeningSockets;
  private readonly place: HostAndPort;
  private readonly handlers: UdpEntranceHandlers;
  private socket: Socket | null = null;
  private bound = 0;
  private closed = false;

  constructor(sockets: ListeningSockets, address: HostAndPort, handlers: UdpEntranceHandlers) {
    this.sockets = sockets;
    this.place = address;
    this.handlers = handlers;
  }

  get port(): number {
    return this.bound;
  }

  async listen(): Promise<void> {
    const { address } = await lookup(this.place.host);
    if (this.closed) return;
    const socket = createUdpSocket({ address });
    socket.on('message', (payload, from) => {
      // Port 0 cannot be answered (RFC 768), and Node throws for the attempt.
      if (from.port !== 0) this.handlers.datagram(payload, from);
    });
    this.bound = await this.sockets.bindUdp(socket, address, this.place);
    if (this.closed) return closeUdp(socket);
    socket.on('error', (error) => this.handlers.failed(error));
    this.socket = socket;
  }

  /** The address that visitors send to. */
  get address(): Endpoint {
    return endpoint(this.socket?.address().address, this.bound);
  }

  send(payload: Uint8Array, to: RemoteInfo): void {
    if (this.socket && hasRoom(this.socket)) this.socket.send(payload, to.port, to.address);
  }

  close(): void {
    this.closed = true;
    this.bound = 0;
    if (this.socket) closeUdp(this.socket);
    this.socket = null;
    this.handlers.closed();
  }
}
