import type { PacketConnection, Target } from '../../interfaces/index.js';
import type { ServerPackets } from '../../transport/server-packets.js';
import { decodeAddress, encodeAddress, SocksError } from '../socks/codec.js';
import { freshSalt } from './cipher.js';
import { ShadowsocksError, openDatagram, sealDatagram } from './codec.js';
import type { ShadowsocksKeys } from './stream.js';

/** UDP through a Shadowsocks server: each datagram sealed on its own, under its own salt. */
export class ShadowsocksPackets implements PacketConnection {
  private readonly keys: ShadowsocksKeys;
  private readonly server: ServerPackets;
  private readonly messageListeners: ((payload: Buffer, from: Target) => void)[] = [];
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private closed = false;

  constructor(keys: ShadowsocksKeys, server: ServerPackets) {
    this.keys = keys;
    this.server = server;
    server.onMessage((bytes) => this.received(bytes));
    server.onClose((error) => this.end(error));
  }

  send(payload: Buffer, target: Target): void {
    if (this.closed) return;
    const { method, master } = this.keys;
    const salt = freshSalt(method);
    this.server.send(sealDatagram(method, master, salt, [encodeAddress(target), payload]));
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

  /** What is not the server's is dropped: the seal says who sent it. */
  private received(bytes: Buffer): void {
    try {
      const plain = openDatagram(this.keys.method, this.keys.master, bytes);
      const address = decodeAddress(plain);
      if (!address) return;
      for (const listener of this.messageListeners) listener(plain.subarray(address.end), address.target);
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
