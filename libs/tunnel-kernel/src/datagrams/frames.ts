import { isIP } from 'node:net';
import { decodeSocksAddress, SocksError } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import { protocolError } from '../errors.js';
import { MAX_DATAGRAM_BYTES } from './datagram-sessions.js';
import type { Endpoint } from '../base/endpoint.js';

/** Types of frames; docs/tunnel-protocol.md describes them. */
export const FRAME = {
  /** Session, payload. */
  datagram: 1,
  /** Session, address (destination or source), payload. */
  addressed: 2,
  /** Session, opening: the visitor and the tunnel. Sent before each datagram until the agent has sent `opened`. */
  open: 3,
  opened: 4,
  /** The session is over, or unknown. */
  closed: 5,
  /** UDP only: a fragment of a frame that does not fit into a packet. */
  fragment: 6,
  /** UDP only: token (in place of the session), flags. */
  probe: 7,
  /** UDP only: the token and the flags of the answering side. */
  probed: 8,
  /** TCP only, from the server: UDP does not get through until a probe says that it does. */
  useStreams: 9,
} as const;

/** Type (1 byte) and length of the body (3 bytes). */
export const FRAME_HEADER_BYTES = 4;
export const SESSION_BYTES = 4;
const MAX_HEAD_BYTES = 512;
export const MAX_FRAME_BODY_BYTES = SESSION_BYTES + MAX_HEAD_BYTES + MAX_DATAGRAM_BYTES;
/** In place of the id in the start of a channel for datagrams: its frames are answered over it, never as packets. */
export const ANSWER_HERE = 1;
export const NOTHING: Buffer = Buffer.alloc(0);

/** Carries frames to the other end; frames of one turn of the event loop are sent together. */
export interface DatagramTransport {
  /** Copies the frame; may lose it, as the network may. */
  put(type: number, session: number, head: Uint8Array, payload: Uint8Array): void;
}

/** Receives each frame; `body` is only valid during the call. May throw a TunnelError for an invalid frame. */
export type FrameHandler = (type: number, body: Buffer) => void;

export interface SessionOpening {
  tunnelId: number;
  visitor: Endpoint;
  entrance: Endpoint;
}

/** Writes the header of a frame whose head and payload take `bytes`; returns where they go. */
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

/**
 * The address of an `addressed` frame, which is one of SOCKS 5 (RFC 1928), and where the payload begins.
 * @throws TunnelError `protocol`.
 */
export function decodeAddress(body: Buffer): { address: HostAndPort; end: number } {
  let read: ReturnType<typeof decodeSocksAddress>;
  try {
    read = decodeSocksAddress(body, anyName, SESSION_BYTES);
  } catch (error) {
    throw error instanceof SocksError ? protocolError(error.message) : error;
  }
  if (!read) throw protocolError('an address that is too short');
  return { address: read.target, end: read.end };
}

/** The side that uses the name checks it. */
function anyName(name: string): string {
  return name;
}

function readText(body: Buffer, at: number): { text: string; end: number } {
  const end = at < body.length ? at + 1 + (body[at] ?? 0) : Infinity;
  if (end > body.length) throw protocolError('a text that is too long');
  return { text: body.toString('utf8', at + 1, end), end };
}
