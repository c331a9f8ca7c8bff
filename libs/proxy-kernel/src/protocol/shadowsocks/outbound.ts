import type { ShadowsocksNode } from '@gatehouse/contracts';
import type { ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { encodeAddress } from '../socks/codec.js';
import { aeadMethod, masterKey } from './cipher.js';
import { ShadowsocksPackets } from './packets.js';
import { ShadowsocksStream, type ShadowsocksKeys } from './stream.js';

/** A Shadowsocks AEAD server, TCP and UDP. */
export class ShadowsocksOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'ss';
  private readonly node: ShadowsocksNode;
  private readonly dialer: ServerDialer;
  private readonly keys: ShadowsocksKeys;

  constructor(tag: string, node: ShadowsocksNode, dialer: ServerDialer) {
    this.tag = tag;
    this.node = node;
    this.dialer = dialer;
    const method = aeadMethod(node.cipher);
    this.keys = { method, master: masterKey(node.password, method.keyLength) };
  }

  get udp(): boolean {
    return (this.node.udp ?? true) && this.dialer.udp;
  }

  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    const { server, port } = this.node;
    const stream = await this.dialer.connect(server, port, context);
    return new ShadowsocksStream(stream, this.keys, encodeAddress(target));
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    if (!this.udp) throw new DialError('route', 'other', `${this.tag} carries no UDP`);
    const { server, port } = this.node;
    return new ShadowsocksPackets(this.keys, await this.dialer.openPackets(server, port, context));
  }
}
