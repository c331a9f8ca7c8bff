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
import { StreamDatagrams, type DatagramFraming } from '../stream-datagrams.js';
import { TargetPackets } from '../target-packets.js';
import type { Carrier } from '../../transport/node-server.js';
import { encodePortFirst } from '../port-first-address.js';

/** A VLESS server without a flow, TCP and UDP. */
export class VlessOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'vless';
  readonly udp: boolean;
  private readonly carrier: Carrier;
  private readonly id: Buffer;

  /** @param id the 16 bytes of the user's id. */
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

const VERSION = 0;
const COMMAND = { tcp: 1, udp: 2 } as const;

/** `version ‖ id ‖ length of addons (0) ‖ command ‖ port ‖ address`. */
export function encodeRequest(id: Buffer, command: number, target: Target): Buffer {
  return Buffer.concat([Buffer.from([VERSION]), id, Buffer.from([0, command]), encodePortFirst(target)]);
}

/** `version ‖ length of addons ‖ addons`. 0: more bytes are needed. @throws DialError for another version. */
export function answerLength(bytes: Buffer): number {
  const [version, addons] = bytes;
  if (version !== undefined && version !== VERSION) {
    throw new DialError('handshake', 'protocol_error', 'the server does not speak VLESS');
  }
  return addons !== undefined && bytes.length >= 2 + addons ? 2 + addons : 0;
}

/** `length(2) ‖ payload`. */
export const LENGTH_FRAMING: DatagramFraming<Buffer> = {
  maxBytes: 2 + 0xffff,
  encode(payload) {
    if (payload.length === 0 || payload.length > 0xffff) return null;
    return Buffer.concat([Buffer.from([payload.length >> 8, payload.length & 255]), payload]);
  },
  decode(bytes) {
    if (bytes.length < 2) return null;
    const end = 2 + bytes.readUInt16BE(0);
    return bytes.length < end ? null : { item: bytes.subarray(2, end), end };
  },
};
