import { isIP } from 'node:net';
import { formatIp, parseIp } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import { protocolError } from '../errors.js';
import { MAX_DATAGRAM_BYTES } from './datagram-sessions.js';
import type { Endpoint } from '../base/endpoint.js';

/** What frames of lanes say; docs/tunnel-protocol.md is the long form. */
export const FRAME = {
  /** Session, payload. */
  datagram: 1,
  /** Session, address (where to, or where from), payload. */
  addressed: 2,
  /** Session, opening: whose datagrams they are. Before each datagram until the agent has said `opened`. */
  open: 3,
  opened: 4,
  /** The session is over, or not known. */
  closed: 5,
  /** UDP only: a part of a frame that does not fit a packet. */
  fragment: 6,
  /** UDP only: token (where others have their session), flags. */
  probe: 7,
  /** UDP only: the token and the flags of who answers. */
  probed: 8,
  /** TCP only, from the server: UDP does not get through, until a probe says it does. */
  lanes: 9,
} as const;

/** Type (1 byte) and length of the body (3 bytes). */
export const FRAME_HEADER_BYTES = 4;
export const SESSION_BYTES = 4;
const MAX_HEAD_BYTES = 512;
export const MAX_FRAME_BODY_BYTES = SESSION_BYTES + MAX_HEAD_BYTES + MAX_DATAGRAM_BYTES;
export const NOTHING: Buffer = Buffer.alloc(0);

/** Takes frames to the other end; what is put in one turn of the event loop leaves together. */
export interface DatagramLane {
  /** Copies; may lose it, as the network may. */
  put(type: number, session: number, head: Uint8Array, payload: Uint8Array): void;
}

/** Gets each frame; `body` is only good during the call. May throw a TunnelError for what it cannot read. */
export type FrameHandler = (type: number, body: Buffer) => void;

export interface SessionOpening {
  tunnelId: number;
  visitor: Endpoint;
  entrance: Endpoint;
}

/** Writes what is before the head of a frame whose head and payload have `bytes`; answers where they go. */
export function writeHeader(into: Buffer, at: number, type: number, session: number, bytes: number): number {
  const length = SESSION_BYTES + bytes;
  into[at] = type;
  into[at + 1] = length >>> 16;
  into[at + 2] = length >>> 8;
  into[at + 3] = length;
  into.writeUInt32BE(session, at + FRAME_HEADER_BYTES);
  return at + FRAME_HEADER_BYTES + SESSION_BYTES;
}

export function sessionOf(body: Buffer): number {
  if (body.length < SESSION_BYTES) throw protocolError('a frame of datagrams without a session');
  return body.readUInt32BE(0);
}

/** Calls `handler` with each frame of a packet; padding (type 0) ends it. @throws TunnelError `protocol`. */
export function readFrames(packet: Buffer, handler: FrameHandler): void {
  let at = 0;
  while (at < packet.length && packet[at] !== 0) {
    const body = at + FRAME_HEADER_BYTES;
    const end = body <= packet.length ? body + packet.readUIntBE(at + 1, 3) : Infinity;
    if (end > packet.length) throw protocolError('a packet with half a frame');
    handler(packet[at] ?? 0, packet.subarray(body, end));
    at = end;
  }
}

/** Head of an `open` frame. */
export function encodeOpening({ tunnelId, visitor, entrance }: SessionOpening): Buffer {
  const texts = [visitor, entrance].map(({ address }) => Buffer.from(address, 'latin1'));
  const head = Buffer.allocUnsafe(12);
  head.writeBigUInt64BE(BigInt(tunnelId), 0);
  head.writeUInt16BE(visitor.port, 8);
  head.writeUInt16BE(entrance.port, 10);
  return Buffer.concat([head, ...texts.flatMap((text) => [Buffer.of(text.length), text])]);
}

/** @throws TunnelError `protocol`. */
export function decodeOpening(body: Buffer): SessionOpening {
  if (body.length < SESSION_BYTES + 14) throw protocolError('an opening that is too short');
  const tunnelId = Number(body.readBigUInt64BE(4));
  const visitor = readText(body, 16);
  const entrance = readText(body, visitor.end);
  const known = isIP(visitor.text) !== 0 && isIP(entrance.text) !== 0;
  if (!known || entrance.end !== body.length || !Number.isSafeInteger(tunnelId)) {
    throw protocolError('an opening with wrong fields');
  }
  return {
    tunnelId,
    visitor: { address: visitor.text, port: body.readUInt16BE(12) },
    entrance: { address: entrance.text, port: body.readUInt16BE(14) },
  };
}

const ADDRESS = { ipv4: 1, name: 3, ipv6: 4 } as const;
const MAX_NAME_BYTES = 255;

/** Head of an `addressed` frame, as in SOCKS 5 (RFC 1928): kind, address, port. */
export function encodeAddress({ host, port }: HostAndPort): Buffer {
  const ip = parseIp(host);
  if (ip) {
    const head = Buffer.allocUnsafe(1 + ip.words.length * 4 + 2);
    head[0] = ip.family === 4 ? ADDRESS.ipv4 : ADDRESS.ipv6;
    for (const [index, word] of ip.words.entries()) head.writeUInt32BE(word >>> 0, 1 + index * 4);
    head.writeUInt16BE(port, head.length - 2);
    return head;
  }
  const name = Buffer.from(host);
  if (name.length === 0 || name.length > MAX_NAME_BYTES) throw new RangeError('a name of 1 to 255 bytes');
  const head = Buffer.allocUnsafe(2 + name.length + 2);
  head[0] = ADDRESS.name;
  head[1] = name.length;
  name.copy(head, 2);
  head.writeUInt16BE(port, head.length - 2);
  return head;
}

/** The address of an `addressed` frame and where the payload begins. @throws TunnelError `protocol`. */
export function decodeAddress(body: Buffer): HostAndPort & { end: number } {
  const kind = body[SESSION_BYTES];
  const at = SESSION_BYTES + 1;
  if (kind === ADDRESS.name) {
    const { text, end } = readText(body, at);
    return { host: text, ...readPort(body, end) };
  }
  if (kind !== ADDRESS.ipv4 && kind !== ADDRESS.ipv6) throw protocolError('an address of an unknown kind');
  const family = kind === ADDRESS.ipv4 ? 4 : 6;
  const end = at + (family === 4 ? 4 : 16);
  const { port, end: after } = readPort(body, end);
  const words = Array.from({ length: (end - at) / 4 }, (_, index) => body.readUInt32BE(at + index * 4));
  return { host: formatIp({ family, words }), port, end: after };
}

function readPort(body: Buffer, at: number): { port: number; end: number } {
  if (at + 2 > body.length) throw protocolError('an address that is too short');
  return { port: body.readUInt16BE(at), end: at + 2 };
}

function readText(body: Buffer, at: number): { text: string; end: number } {
  const end = at < body.length ? at + 1 + (body[at] ?? 0) : Infinity;
  if (end > body.length) throw protocolError('a text that is too long');
  return { text: body.toString('utf8', at + 1, end), end };
}
