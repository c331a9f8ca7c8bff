import type { Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { createUdpSocket, formatIp, parseIp } from '@gatehouse/net';
import type { DialContext, Resolver } from '../interfaces/index.js';
import { resolveFirst } from './tcp.js';

/** Datagrams to and from one server; those of others are dropped. */
export interface ServerPackets {
  send(bytes: Uint8Array): void;
  onMessage(listener: (bytes: Buffer) => void): void;
  onClose(listener: (error?: Error) => void): void;
  close(): void;
}

/** Opens a socket of this machine for datagrams to one server. @throws DialError stage `dns`. */
export async function openServerPackets(
  host: string,
  port: number,
  resolver: Resolver,
  dial: DialContext,
): Promise<ServerPackets> {
  return new SocketPackets(await resolveFirst(host, resolver, dial), port);
}

class SocketPackets implements ServerPackets {
  private readonly address: string;
  private readonly port: number;
  private readonly udp: Socket;
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private closed = false;

  constructor(address: string, port: number) {
    const ip = parseIp(address);
    // In the form in which the socket reports senders, so that the two can be compared.
    this.address = ip ? formatIp(ip) : address;
    this.port = port;
    this.udp = createUdpSocket(isIPv6(address) ? 'udp6' : 'udp4');
    this.udp.on('error', (error) => this.end(error));
  }

  send(bytes: Uint8Array): void {
    // The callback gets errors of this datagram only, which UDP may lose anyway.
    if (!this.closed) this.udp.send(bytes, this.port, this.address, () => undefined);
  }

  onMessage(listener: (bytes: Buffer) => void): void {
    this.udp.on('message', (bytes, from) => {
      if (from.address === this.address && from.port === this.port) listener(bytes);
    });
  }

  onClose(listener: (error?: Error) => void): void {
    this.closeListeners.push(listener);
  }

  close(): void {
    this.end();
  }

  private end(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    this.udp.close();
    for (const listener of this.closeListeners) listener(error);
  }
}
