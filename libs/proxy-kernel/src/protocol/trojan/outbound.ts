import { createHash } from 'node:crypto';
import type { NodeTls, TrojanNode } from '@gatehouse/contracts';
import { encodeSocksAddress, type ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { createCarrier } from '../../transport/carrier.js';
import { PrologueStream } from '../../transport/prologue-stream.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { TrojanPackets } from './packets.js';
import type { Carrier } from '../../transport/node-server.js';

const CRLF = Buffer.from('\r\n');
const COMMAND = { connect: 1, udpAssociate: 3 } as const;
/** As offered by trojan's own clients, since a server behind a web front may require it. */
const DEFAULT_ALPN = ['h2', 'http/1.1'];

/** A Trojan server, TCP and UDP. */
export class TrojanOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'trojan';
  readonly udp: boolean;
  private readonly carrier: Carrier;
  private readonly key: Buffer;

  constructor(tag: string, node: TrojanNode, dialer: ServerDialer) {
    this.tag = tag;
    this.udp = node.udp ?? true;
    this.carrier = createCarrier({ ...node, tls: withDefaultAlpn(node.tls) }, dialer);
    this.key = Buffer.from(`${createHash('sha224').update(node.password).digest('hex')}\r\n`);
  }

  connect(target: Target, context: DialContext): Promise<ByteStream> {
    return this.open(COMMAND.connect, target, context);
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    if (!this.udp) throw new DialError('route', 'other', `${this.tag} carries no UDP`);
    const stream = await this.carrier.connect(context);
    return new TrojanPackets(stream, (first) => this.head(COMMAND.udpAssociate, first));
  }

  close(): void {
    this.carrier.close();
  }

  private async open(command: number, target: Target, context: DialContext): Promise<ByteStream> {
    return new PrologueStream(await this.carrier.connect(context), this.head(command, target));
  }

  private head(command: number, target: Target): Buffer {
    return Buffer.concat([this.key, Buffer.from([command]), encodeSocksAddress(target), CRLF]);
  }
}

function withDefaultAlpn(tls: NodeTls): NodeTls {
  return { ...tls, alpn: tls.alpn ?? DEFAULT_ALPN };
}
