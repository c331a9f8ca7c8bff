/** The server side of DNS messages (RFC 1035, RFC 6891): decodes a client's question and encodes the answer. */
import { CLASS_IN, DnsMessageError, HEADER, MAX_NAME, MessageReader, TYPE } from './message-reader.js';
import { UDP_PAYLOAD, encodeOptions } from './message.js';

export const CODE = { ok: 0, badFormat: 1, failure: 2, noSuchName: 3, notImplemented: 4, refused: 5, badVersion: 16 };

export interface DnsQuery {
  id: number;
  /** From the header: kind of query, recursion desired, no validation. */
  flags: number;
  /** Lower case, without a trailing dot. */
  name: string;
  type: number;
  class: number;
  /** As the client wrote it, because replies repeat it exactly. */
  question: Buffer;
  /** Null: the client does not support options. */
  options: { version: number; payload: number; dnssec: boolean } | null;
}

export interface DnsAnswer {
  /** One of `CODE`. */
  code: number;
  /** Addresses, each as the four or sixteen bytes of a record. */
  addresses?: readonly Buffer[];
  type?: number;
  /** Seconds. */
  ttl?: number;
}

/** A message with a header that can only be answered with an error code. */
export class DnsQueryError extends DnsMessageError {
  readonly id: number;
  readonly code: number;
  constructor(id: number, code: number, message: string) {
    super(message);
    this.id = id;
    this.code = code;
  }
}

const FLAG_REPLY = 0x8000;
const FLAG_TRUNCATED = 0x0200;
const FLAG_RECURSION_AVAILABLE = 0x0080;
const OPERATION = 0x7800;
/** The bits of the query's header that a reply repeats: kind of query, recursion desired, no validation. */
const REPEATED = OPERATION | 0x0110;
/** The limit without options (RFC 1035 2.3.4). */
const MIN_PAYLOAD = 512;
const DNSSEC_OK = 0x8000;
/** Additional records that are searched for options. */
const MAX_ADDITIONAL = 16;

/**
 * @throws DnsQueryError for a message to be answered with a code; DnsMessageError for one that must not be answered:
 * too short, or itself a reply.
 */
export function decodeQuery(bytes: Buffer): DnsQuery {
  if (bytes.length < HEADER) throw new DnsMessageError('shorter than a header');
  const [id, flags] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
  if ((flags & FLAG_REPLY) !== 0) throw new DnsMessageError('a reply');
  if ((flags & OPERATION) !== 0) throw new DnsQueryError(id, CODE.notImplemented, 'not a query');
  const [questions, answers, authorities, additional] = [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at));
  if (questions !== 1 || answers !== 0 || authorities !== 0 || (additional ?? 0) > MAX_ADDITIONAL) {
    throw new DnsQueryError(id, CODE.badFormat, 'not one question');
  }
  try {
    const { name, end } = readName(bytes);
    const reader = new MessageReader(bytes, end);
    const [type, queryClass] = [reader.uint16(), reader.uint16()];
    const question = bytes.subarray(HEADER, end + 4);
    return { id, flags, name, type, class: queryClass, question, options: readOptions(reader, additional ?? 0) };
  } catch (error) {
    if (error instanceof DnsMessageError) throw new DnsQueryError(id, CODE.badFormat, error.message);
    throw error;
  }
}

/** Compression is not possible here, since nothing comes before. Labels that a text cannot represent are refused. */
function readName(bytes: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (;;) {
    const size = bytes[at++];
    if (size === undefined || size > 63) throw new DnsMessageError('not a name');
    if (size === 0) break;
    const label = bytes.toString('latin1', at, at + size);
    if (label.length < size || !/^[\x21-\x2d\x2f-\x7e]+$/.test(label)) throw new DnsMessageError('not a name');
    labels.push(label.toLowerCase());
    at += size;
    if (at - HEADER >= MAX_NAME) throw new DnsMessageError('a name that is too long');
  }
  return { name: labels.join('.'), end: at };
}

function readOptions(reader: MessageReader, count: number): DnsQuery['options'] {
  let options: DnsQuery['options'] = null;
  for (let i = 0; i < count; i++) {
    reader.name();
    const [type, payload, field] = [reader.uint16(), reader.uint16(), reader.uint32()];
    reader.value(TYPE.OPT);
    if (type !== TYPE.OPT) continue;
    if (options) throw new DnsMessageError('options twice');
    options = { version: (field >>> 16) & 255, payload, dnssec: (field & DNSSEC_OK) !== 0 };
  }
  return options;
}

/** @param limit the largest reply; a larger one is truncated, and the client asks again over TCP. */
export function encodeAnswer(query: DnsQuery, answer: DnsAnswer, limit: number): Buffer {
  const { code, addresses = [], type = 0, ttl = 0 } = answer;
  const options = query.options ? encodeOptions(code >> 4, query.options.dnssec) : Buffer.alloc(0);
  const records = addresses.map((address) => encodeRecord(type, ttl, address));
  const length = HEADER + query.question.length + options.length + records.reduce((sum, part) => sum + part.length, 0);
  const cut = length > limit;
  const shown = cut ? [] : records;
  const header = encodeHeader(query.id, (query.flags & REPEATED) | (code & 15) | (cut ? FLAG_TRUNCATED : 0));
  for (const [i, count] of [1, shown.length, 0, query.options ? 1 : 0].entries())
    header.writeUInt16BE(count, 4 + i * 2);
  return Buffer.concat([header, query.question, ...shown, options]);
}

/** The answer to a message whose question could not be read. */
export function encodeRefusal({ id, code }: DnsQueryError): Buffer {
  return encodeHeader(id, code);
}

/**
 * Turns a name server's reply into one to the client's own query, truncated if it exceeds `limit`.
 * @throws DnsMessageError for a reply that does not repeat the question.
 */
export function relabelReply(query: DnsQuery, reply: Buffer, limit: number): Buffer {
  const end = HEADER + query.question.length;
  const asked = reply.toString('latin1', HEADER, end).toLowerCase();
  if (asked !== query.question.toString('latin1').toLowerCase()) throw new DnsMessageError('not the question asked');
  if (reply.length > limit) {
    const code = reply.readUInt16BE(2) & 15;
    // No room for any record, so that only the truncation bit remains.
    return encodeAnswer(query, { code, addresses: [Buffer.alloc(0)] }, 0);
  }
  const own = Buffer.from(reply);
  own.writeUInt16BE(query.id, 0);
  query.question.copy(own, HEADER);
  return own;
}

/** Header and question of our reply, marked as truncated: no longer than the query was. */
export function truncated(reply: Buffer): Buffer {
  let end = HEADER;
  if (reply.readUInt16BE(4) > 0) {
    while (reply[end]) end += 1 + reply[end]!;
    end += 5;
  }
  const cut = Buffer.from(reply.subarray(0, end));
  cut.writeUInt16BE(cut.readUInt16BE(2) | FLAG_TRUNCATED, 2);
  cut.fill(0, 6, HEADER);
  return cut;
}

/** The largest UDP reply: what the client accepts, but never more than passes without fragments. */
export function udpLimit({ options }: DnsQuery): number {
  return Math.min(UDP_PAYLOAD, Math.max(MIN_PAYLOAD, options?.payload ?? 0));
}

function encodeHeader(id: number, flags: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(FLAG_REPLY | FLAG_RECURSION_AVAILABLE | flags, 2);
  return header;
}

/** A record of the requested name, which follows the header. */
function encodeRecord(type: number, ttl: number, data: Buffer): Buffer {
  const record = Buffer.alloc(12);
  for (const [i, value] of [0xc000 | HEADER, type, CLASS_IN].entries()) record.writeUInt16BE(value, i * 2);
  record.writeUInt32BE(ttl, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}
