import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { isIPv6, type Socket } from 'node:net';
import type { PacketConnection, Target } from '../../interfaces/index.js';
import { decodeUdp, encodeUdp } from './codec.js';

/** UDP through a SOCKS5 server's relay; it lives as long as the TCP connection that asked for it. */
export class SocksPackets implements PacketConnection {
  private readonly control: Socket;
  private readonly relay: Target;
  private readonly udp: UdpSocket;
  private readonly messageListeners: ((payload: Buffer, from: Target) => void)[] = [];
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private closed = false;

  constructor(control: Socket, relay: Target) {
    this.control = control;
    this.relay = relay;
    this.udp = createSocket(isIPv6(relay.host) ? 'udp6' : 'udp4');
    this.udp.on('message', (bytes, { address, port }) => {
      // Only the relay may speak for targets.
      if (address === relay.host && port === relay.port) this.received(bytes);
    });
    this.udp.on('error', (error) => this.end(error));
    control.on('close', () => this.end());
    control.on('end', () => this.end());
    control.resume();
  }

  send(payload: Buffer, target: Target): void {
    if (this.closed) return;
    // The callback takes errors of this one datagram: UDP may lose it.
    this.udp.send(encodeUdp(target, payload), this.relay.port, this.relay.host, () => undefined);
  }

  onMessage(listener: (payload: Buffer, from: Target) => void): void {
    this.messageListeners.push(listener);
  }

  onClose(listener: (error?: Error) => void): void {
    this.closeListeners.push(listener);
  }

  close(): void {
    this.end();
  }

  private received(bytes: Buffer): void {
    const datagram = decodeUdp(bytes);
    if (datagram) for (const listener of this.messageListeners) listener(datagram.payload, datagram.target);
  }

  private end(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    this.udp.close();
    this.control.destroy();
    for (const listener of this.closeListeners) listener(error);
  }
}
