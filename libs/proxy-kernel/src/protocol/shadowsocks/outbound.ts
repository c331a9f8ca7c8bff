import type { ShadowsocksNode } from '@gatehouse/contracts';
import type { ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Resolver,
  type Target,
} from '../../interfaces/index.js';
import { dialTcp, resolveFirst } from '../../transport/tcp.js';
import { encodeAddress } from '../socks/codec.js';
import { aeadMethod, masterKey } from './cipher.js';
import { ShadowsocksPackets } from './packets.js';
import { ShadowsocksStream, type ShadowsocksKeys } from './stream.js';

/** A Shadowsocks AEAD server, TCP and UDP. */
export class ShadowsocksOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'ss';
  readonly udp: boolean;
  private readonly node: ShadowsocksNode;
  private readonly resolver: Resolver;
  private readonly keys: ShadowsocksKeys;

  constructor(tag: string, node: ShadowsocksNode, resolver: Resolver) {
    this.tag = tag;
    this.node = node;
    this.resolver = resolver;
    this.udp = node.udp ?? true;
    const method = aeadMethod(node.cipher);
    this.keys = { method, master: masterKey(node.password, method.keyLength) };
  }

  async connect(target: Target, { signal }: DialContext): Promise<ByteStream> {
    const { server, port } = this.node;
    const socket = await dialTcp({ host: server, port, resolver: this.resolver, signal });
    return new ShadowsocksStream(socket, this.keys, encodeAddress(target));
  }

  async openPackets({ signal }: DialContext): Promise<PacketConnection> {
    if (!this.udp) throw new DialError('route', 'other', `${this.tag} carries no UDP`);
    const { server, port } = this.node;
    const host = await resolveFirst(server, this.resolver, signal);
    return new ShadowsocksPackets(this.keys, { host, port });
  }
}
