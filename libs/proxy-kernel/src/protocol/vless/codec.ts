/** VLESS version 0 on the wire. Pure: bytes in, values out. */
import { DialError, type Target } from '../../interfaces/index.js';
import { encodePortFirst } from '../port-first-address.js';
import type { DatagramFraming } from '../stream-datagrams.js';

const VERSION = 0;
export const COMMAND = { tcp: 1, udp: 2 } as const;

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
