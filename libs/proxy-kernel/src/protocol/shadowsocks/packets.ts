import { SocksError } from '@gatehouse/net';
import type { PacketConnection, Target } from '../../interfaces/index.js';
import type { ServerPackets } from '../../transport/server-packets.js';
import { ShadowsocksError } from './chunk-key.js';
import type { DatagramCodec } from './codec.js';

/** UDP through a Shadowsocks server; each datagram is sealed separately. */
export class ShadowsocksPackets implements PacketConnection {
  private readonly codec: DatagramCodec;
  private readonly server: ServerPackets;
  private readonly messageListeners: ((payload: Buffer, from: Target) => void)[] = [];
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private closed = false;

  constructor(codec: DatagramCodec, server: ServerPackets) {
    this.codec = codec;
    this.server = server;
    server.onMessage((bytes) => this.received(bytes));
    server.onClose((error) => this.end(error));
  }

  send(payload: Buffer, target: Target): void {
    if (!this.closed) this.server.send(this.codec.seal(payload, target));
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

  /** Datagrams that do not open are dropped: only the server has the key. */
  private received(bytes: Buffer): void {
    try {
      const opened = this.codec.open(bytes);
      if (opened) for (const listener of this.messageListeners) listener(opened.payload, opened.target);
    } catch (error) {
      if (!(error instanceof ShadowsocksError) && !(error instanceof SocksError)) throw error;
    }
  }

  private end(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    this.server.close();
    for (const listener of this.closeListeners) listener(error);
  }
}
