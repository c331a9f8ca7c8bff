import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { protocolError } from '../errors.js';
import type { ChannelTicket } from './messages.js';

/** First byte of a plain data channel; a TLS ClientHello begins with 22. */
export const OPENING_FIRST_BYTE = 0x47;
const MAGIC = Buffer.from([OPENING_FIRST_BYTE, 0x57, 0x44, 0x01]);
const ID_BYTES = 16;
const PROOF_BYTES = 16;
export const OPENING_BYTES = MAGIC.length + ID_BYTES + PROOF_BYTES;

const START_VERSION = 1;
/** Version, flags, length of what follows. */
export const START_HEADER_BYTES = 4;
/** Tunnel, two ports, two lengths, the tag; two addresses of 45 characters at most. */
const MIN_START_BYTES = 8 + 2 + 2 + 1 + 1 + PROOF_BYTES;
const MAX_START_BYTES = MIN_START_BYTES + 2 * 45;

/** An address and a port, in canonical text. */
export interface Endpoint {
  address: string;
  port: number;
}

/** What turns an idle channel into the connection of one visitor. */
export interface Start {
  tunnelId: number;
  visitor: Endpoint;
  /** The address that the visitor connected to. */
  entrance: Endpoint;
}

/** First bytes of a data channel, from the agent. */
export function encodeOpening(ticket: ChannelTicket): Buffer {
  return Buffer.concat([MAGIC, ticket.id, openingProof(ticket)]);
}

/** Id of the ticket that an opening claims, hex. @throws TunnelError `protocol`. */
export function openingTicketId(opening: Buffer): string {
  if (opening.length !== OPENING_BYTES || !opening.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw protocolError('not the opening of a data channel');
  }
  return opening.toString('hex', MAGIC.length, MAGIC.length + ID_BYTES);
}

/** Whether the opening was made by who has the ticket's key; in constant time. */
export function openingHolds(opening: Buffer, ticket: ChannelTicket): boolean {
  return timingSafeEqual(opening.subarray(MAGIC.length + ID_BYTES), openingProof(ticket));
}

/** Binds the channel to one tunnel: the tag is over everything before it, with the ticket's key. */
export function encodeStart({ tunnelId, visitor, entrance }: Start, key: Buffer): Buffer {
  const length = MIN_START_BYTES + visitor.address.length + entrance.address.length;
  const start = Buffer.allocUnsafe(START_HEADER_BYTES + length);
  start.writeUInt8(START_VERSION, 0);
  start.writeUInt8(0, 1);
  start.writeUInt16BE(length, 2);
  start.writeBigUInt64BE(BigInt(tunnelId), 4);
  start.writeUInt16BE(visitor.port, 12);
  start.writeUInt16BE(entrance.port, 14);
  let at = writeText(start, visitor.address, 16);
  at = writeText(start, entrance.address, at);
  startTag(start.subarray(0, at), key).copy(start, at);
  return start;
}

/** Bytes that follow the header of a start. @throws TunnelError `protocol`. */
export function startLength(header: Buffer): number {
  const length = header.readUInt16BE(2);
  if (header.readUInt8(0) !== START_VERSION || length < MIN_START_BYTES || length > MAX_START_BYTES) {
    throw protocolError('not the start of a data channel');
  }
  return length;
}

/** Reads a whole start, header included. @throws TunnelError `protocol` where the tag or a field is wrong. */
export function decodeStart(start: Buffer, key: Buffer): Start {
  const tagAt = start.length - PROOF_BYTES;
  if (start.length !== START_HEADER_BYTES + startLength(start)) throw protocolError('a start of another length');
  if (!timingSafeEqual(start.subarray(tagAt), startTag(start.subarray(0, tagAt), key))) {
    throw protocolError('a start that was not made for this channel');
  }
  const tunnelId = Number(start.readBigUInt64BE(4));
  const visitor = readText(start, 16, tagAt);
  const entrance = readText(start, visitor.end, tagAt);
  if (!Number.isSafeInteger(tunnelId) || entrance.end !== tagAt) throw protocolError('a start with wrong fields');
  return {
    tunnelId,
    visitor: { address: visitor.text, port: start.readUInt16BE(12) },
    entrance: { address: entrance.text, port: start.readUInt16BE(14) },
  };
}

function writeText(target: Buffer, text: string, at: number): number {
  target.writeUInt8(text.length, at);
  return at + 1 + target.write(text, at + 1, 'latin1');
}

function readText(source: Buffer, at: number, end: number): { text: string; end: number } {
  const last = at < end ? at + 1 + source.readUInt8(at) : end + 1;
  if (last > end) throw protocolError('a start with a text that is too long');
  const text = source.toString('latin1', at + 1, last);
  if (isIP(text) === 0) throw protocolError('a start without an address');
  return { text, end: last };
}

function openingProof({ id, key }: ChannelTicket): Buffer {
  return createHmac('sha256', key).update('open').update(id).digest().subarray(0, PROOF_BYTES);
}

function startTag(start: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update('start').update(start).digest().subarray(0, PROOF_BYTES);
}
