import type { VlessNode } from '@gatehouse/contracts';
import type { ByteStream } from '@gatehouse/net';
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
import { StreamDatagrams } from '../stream-datagrams.js';
import { TargetPackets } from '../target-packets.js';
import { COMMAND, LENGTH_FRAMING, answerLength, encodeRequest } from './codec.js';
import type { Carrier } from '../../transport/node-server.js';

/** A VLESS server without a flow, TCP and UDP. */
export class VlessOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'vless';
  readonly udp: boolean;
  private readonly carrier: Carrier;
  private readonly id: Buffer;

  /** `id`: the 16 bytes of the user's id. */
  constructor(tag: string, node: VlessNode, id: Buffer, dialer: ServerDialer) {
    this.tag = tag;
    this.udp = node.udp ?? true;
    this.id = id;
    this.carrier = createCarrier(node, dialer);
  }

  connect(target: Target, context: DialContext): Promise<ByteStream> {
    return this.open(COMMAND.tcp, target, context);
  }

  openPackets(_context: DialContext): Promise<PacketConnection> {
    if (!this.udp) return Promise.reject(new DialError('route', 'other', `${this.tag} carries no UDP`));
    const packets = new TargetPackets(
      async (target, signal) => new StreamDatagrams(await this.open(COMMAND.udp, target, { signal }), LENGTH_FRAMING),
    );
    return Promise.resolve(packets);
  }

  close(): void {
    this.carrier.close();
  }

  private async open(command: number, target: Target, context: DialContext): Promise<ByteStream> {
    const head = encodeRequest(this.id, command, target);
    return new PrologueStream(await this.carrier.connect(context), head, answerLength);
  }
}
