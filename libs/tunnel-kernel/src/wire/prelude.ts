import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { ShortHmac } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { DIAL_FAILURES, type ChannelTicket, type DialFailure } from './messages.js';
import type { Endpoint } from '../base/endpoint.js';

/** First byte of a data channel; a TLS ClientHello begins with 22. */
export const OPENING_FIRST_BYTE = 0x47;
const MAGIC = Buffer.from([OPENING_FIRST_BYTE, 0x57, 0x44]);
const PLAIN = 1;
const SEALED = 2;
const HEAD_BYTES = MAGIC.length + 1;
const ID_BYTES = 16;
const PROOF_BYTES = 16;
export const OPENING_BYTES = HEAD_BYTES + ID_BYTES + PROOF_BYTES;

const START_VERSION = 1;
const ANSWER_WANTED = 1;
const FRAMED = 2;
const REUSED = 4;
const LONG_RECORDS = 8;
/** Version, flags, length of what follows. */
export const START_HEADER_BYTES = 4;
/** Sent in place of a start, to check that the channel still works. */
export const PROBE = Buffer.alloc(START_HEADER_BYTES);
const PROBE_ANSWER = Buffer.of(0);
/** Sent by the agent after both ends: the channel is idle again. */
export const READY = PROBE_ANSWER;
const NUMBER_BYTES = 4;
const START_LABEL = Buffer.from('start');
const NOTHING = Buffer.alloc(0);
const KINDS = ['tunnel', 'host', 'datagrams'] as const;
const ANY_TARGET = 255;
/** Kind, target, id, two ports, three lengths, the tag. */
const MIN_START_BYTES = 1 + 1 + 8 + 2 + 2 + 1 + 1 + 1 + PROOF_BYTES;
const MAX_ADDRESS_CHARACTERS = 45;
const MAX_DESTINATION_BYTES = 255;
const MAX_START_BYTES = MIN_START_BYTES + 2 * MAX_ADDRESS_CHARACTERS + MAX_DESTINATION_BYTES;

/** Turns an idle channel into the connection of one visitor. */
export interface Start {
  /** `datagrams`: a stream for the datagrams of the client's tunnels, of any visitors. */
  kind: (typeof KINDS)[number];
  /** Id of the tunnel or host; 0 for `datagrams`. */
  id: number;
  /** Index of the target; null: the agent chooses. */
  target: number | null;
  /**
   * Destination of a visitor of a proxy mode, `host:port`. In mode `tcp_range` the public port that the visitor connected to,
   * in decimal. Otherwise empty.
   */
  destination: string;
  /**
   * Whether the agent reports with one byte that it reached the target, before the target's bytes (see `decodeAnswer`).
   */
  wantsAnswer: boolean;
  /** Whether both directions are framed (`FramedStream`). */
  framed: boolean;
  /** Whether the channel becomes idle again after a clean end in both directions. */
  reused: boolean;
  /** Whether the server takes records of `MAX_RECORD_BYTES` on this channel. */
  longRecords: boolean;
  visitor: Endpoint;
  /** The address that the visitor connected to. */
  entrance: Endpoint;
}

/** First bytes of a data channel, from the agent. `sealed`: sealed records follow (`SealedStream`). */
export function encodeOpening({ id, key }: ChannelTicket, sealed: boolean): Buffer {
  const head = Buffer.concat([MAGIC, Buffer.of(sealed ? SEALED : PLAIN), id]);
  return Buffer.concat([head, openingProof(head, key)]);
}

/** Id of the ticket that an opening claims, hex. @throws TunnelError `protocol`. */
export function openingTicketId(opening: Buffer): string {
  const kind = opening[MAGIC.length];
  const known = opening.subarray(0, MAGIC.length).equals(MAGIC) && (kind === PLAIN || kind === SEALED);
  if (opening.length !== OPENING_BYTES || !known) throw protocolError('not the opening of a data channel');
  return opening.toString('hex', HEAD_BYTES, HEAD_BYTES + ID_BYTES);
}

/** Whether sealed records follow an opening. */
export function openingIsSealed(opening: Buffer): boolean {
  return opening[MAGIC.length] === SEALED;
}

/** Whether the opening was made with the ticket's key; compared in constant time. */
export function openingHolds(opening: Buffer, { key }: ChannelTicket): boolean {
  const proofAt = HEAD_BYTES + ID_BYTES;
  return timingSafeEqual(opening.subarray(proofAt), openingProof(opening.subarray(0, proofAt), key));
}

/**
 * Binds the channel to one resource: the tag covers everything before it and `index`, the number of the visitor on this
 * channel, with the ticket's key.
 */
export function encodeStart(value: Start, key: Buffer | ShortHmac, index = 0): Buffer {
  const { visitor, entrance } = value;
  const destination = value.destination === '' ? NOTHING : Buffer.from(value.destination);
  const length = MIN_START_BYTES + visitor.address.length + entrance.address.length + destination.length;
  if (destination.length > MAX_DESTINATION_BYTES) throw new RangeError('a destination over 255 bytes');
  const start = Buffer.allocUnsafe(START_HEADER_BYTES + length);
  start[0] = START_VERSION;
  start[1] = flagsOf(value);
  start.writeUInt16BE(length, 2);
  start[4] = KINDS.indexOf(value.kind);
  start.writeUInt8(value.target ?? ANY_TARGET, 5);
  start.writeUInt32BE(Math.floor(value.id / 2 ** 32), 6);
  start.writeUInt32BE(value.id % 2 ** 32, 10);
  start.writeUInt16BE(visitor.port, 14);
  start.writeUInt16BE(entrance.port, 16);
  let at = writeText(start, visitor.address, 18);
  at = writeText(start, entrance.address, at);
  start[at] = destination.length;
  start.set(destination, at + 1);
  at += 1 + destination.length;
  start.set(startTag(start.subarray(0, at), key, index), at);
  return start;
}

export function isProbe(header: Buffer): boolean {
  return header.equals(PROBE);
}

export function encodeProbeAnswer(): Buffer {
  return PROBE_ANSWER;
}

export function isProbeAnswer(chunk: Buffer): boolean {
  return chunk.equals(PROBE_ANSWER);
}

export function isReady(chunk: Buffer): boolean {
  return chunk.equals(READY);
}

/** Number of bytes after the header of a start. @throws TunnelError `protocol`. */
export function startLength(header: Buffer): number {
  const length = header.readUInt16BE(2);
  if (header.readUInt8(0) !== START_VERSION || length < MIN_START_BYTES || length > MAX_START_BYTES) {
    throw protocolError('not the start of a data channel');
  }
  return length;
}

/** Parses a whole start, header included. @throws TunnelError `protocol` if the tag or a field is wrong. */
export function decodeStart(start: Buffer, key: Buffer | ShortHmac, index = 0): Start {
  const tagAt = start.length - PROOF_BYTES;
  if (start.length !== START_HEADER_BYTES + startLength(start)) throw protocolError('a start of another length');
  if (!timingSafeEqual(start.subarray(tagAt), startTag(start.subarray(0, tagAt), key, index))) {
    throw protocolError('a start that was not made for this channel');
  }
  const kind = KINDS[start.readUInt8(4)];
  const target = start.readUInt8(5);
  const id = start.readUInt32BE(6) * 2 ** 32 + start.readUInt32BE(10);
  const visitor = readAddress(start, 18, tagAt);
  const entrance = readAddress(start, visitor.end, tagAt);
  const destination = readText(start, entrance.end, tagAt);
  if (!kind || !Number.isSafeInteger(id) || destination.end !== tagAt) throw protocolError('a start with wrong fields');
  return {
    kind,
    id,
    target: target === ANY_TARGET ? null : target,
    destination: destination.text,
    wantsAnswer: (start.readUInt8(1) & ANSWER_WANTED) !== 0,
    framed: (start.readUInt8(1) & FRAMED) !== 0,
    reused: (start.readUInt8(1) & REUSED) !== 0,
    longRecords: (start.readUInt8(1) & LONG_RECORDS) !== 0,
    visitor: { address: visitor.text, port: start.readUInt16BE(14) },
    entrance: { address: entrance.text, port: start.readUInt16BE(16) },
  };
}

/** The agent's answer byte to a start; null: the target was reached, and its bytes follow. */
export function encodeAnswer(failure: DialFailure | null): Buffer {
  return Buffer.of(failure === null ? 0 : 1 + DIAL_FAILURES.indexOf(failure));
}

/** An unknown failure becomes `other`. */
export function decodeAnswer(byte: number): DialFailure | null {
  return byte === 0 ? null : (DIAL_FAILURES[byte - 1] ?? 'other');
}

function flagsOf({ wantsAnswer, framed, reused, longRecords }: Start): number {
  return (
    (wantsAnswer ? ANSWER_WANTED : 0) | (framed ? FRAMED : 0) | (reused ? REUSED : 0) | (longRecords ? LONG_RECORDS : 0)
  );
}

function writeText(target: Buffer, text: string, at: number): number {
  target[at] = text.length;
  return at + 1 + target.write(text, at + 1, 'latin1');
}

function readText(source: Buffer, at: number, end: number): { text: string; end: number } {
  const last = at < end ? at + 1 + source.readUInt8(at) : end + 1;
  if (last > end) throw protocolError('a start with a text that is too long');
  return { text: source.toString('utf8', at + 1, last), end: last };
}

function readAddress(source: Buffer, at: number, end: number): { text: string; end: number } {
  const read = readText(source, at, end);
  if (isIP(read.text) === 0) throw protocolError('a start without an address');
  return read;
}

function openingProof(head: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update('open').update(head).digest().subarray(0, PROOF_BYTES);
}

/**
 * The first visitor has no number, for agents and servers that do not reuse channels. A number begins with 0, a start
 * does not.
 */
function startTag(start: Buffer, key: Buffer | ShortHmac, index: number): Buffer {
  const hmac = key instanceof ShortHmac ? key : new ShortHmac(key);
  if (index === 0) return hmac.digest(START_LABEL, start).subarray(0, PROOF_BYTES);
  const number = Buffer.allocUnsafe(NUMBER_BYTES);
  number.writeUInt32BE(index);
  return hmac.digest(START_LABEL, number, start).subarray(0, PROOF_BYTES);
}
