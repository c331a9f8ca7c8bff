import type { OtherNode } from '@gatehouse/contracts';
import type { ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { PrologueStream } from '../../transport/prologue-stream.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { encodeAddress } from '../socks/codec.js';
import { UdpOverTcpPackets, udpOverTcpRequest, udpOverTcpTarget } from '../udp-over-tcp/packets.js';
import { anytlsOptions } from './options.js';
import { AnyTlsSessionPool } from './session-pool.js';
import { AnyTlsStream } from './stream.js';

/** An AnyTLS server: TCP, and UDP inside a stream (UDP over TCP, version 2). */
export class AnyTlsOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'anytls';
  readonly udp: boolean;
  private readonly pool: AnyTlsSessionPool;

  constructor(tag: string, node: OtherNode, dialer: ServerDialer) {
    this.tag = tag;
    this.udp = node.udp ?? true;
    const { tls, pool } = anytlsOptions(node);
    this.pool = new AnyTlsSessionPool({ server: node.server, port: node.port, tls }, dialer, pool);
  }

  connect(target: Target, context: DialContext): Promise<ByteStream> {
    return this.open(encodeAddress(target), context);
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    if (!this.udp) throw new DialError('route', 'other', `${this.tag} carries no UDP`);
    const head = Buffer.concat([encodeAddress(udpOverTcpTarget(2)), udpOverTcpRequest(2)]);
    return new UdpOverTcpPackets(await this.open(head, context));
  }

  close(): void {
    this.pool.close();
  }

  private async open(head: Uint8Array, context: DialContext): Promise<ByteStream> {
    return new PrologueStream(new AnyTlsStream(await this.pool.take(context)), head);
  }
}
