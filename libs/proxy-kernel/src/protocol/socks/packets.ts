import { encodeSocksDatagram, type ByteStream } from '@gatehouse/net';
import type { PacketConnection, Target } from '../../interfaces/index.js';
import type { ServerPackets } from '../../transport/server-packets.js';
import { decodeDatagram } from './codec.js';

/** UDP through a SOCKS5 server's relay, for as long as the TCP connection that requested it is open. */
export class SocksPackets implements PacketConnection {
  private readonly control: ByteStream;
  private readonly relay: ServerPackets;
  private readonly messageListeners: ((payload: Buffer, from: Target) => void)[] = [];
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private closed = false;

  /** Only the relay may send datagrams for targets. */
  constructor(control: ByteStream, relay: ServerPackets) {
    this.control = control;
    this.relay = relay;
    relay.onMessage((bytes) => this.received(bytes));
    relay.onClose((error) => this.end(error));
    control.on('error', (error) => this.end(error));
    control.on('close', () => this.end());
    control.on('end', () => this.end());
    control.resume();
  }

  send(payload: Buffer, target: Target): void {
    const datagram = this.closed ? null : encodeSocksDatagram(target, payload);
    if (datagram) this.relay.send(datagram);
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
    const datagram = decodeDatagram(bytes);
    if (datagram) for (const listener of this.messageListeners) listener(datagram.payload, datagram.target);
  }

  private end(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    this.relay.close();
    this.control.destroy();
    for (const listener of this.closeListeners) listener(error);
  }
}
