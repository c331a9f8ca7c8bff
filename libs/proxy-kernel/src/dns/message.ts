/** DNS messages (RFC 1035): encodes a question and decodes the addresses of its answer. */
import { CLASS_IN, DnsMessageError, HEADER, MAX_NAME, MessageReader, TYPE } from './message-reader.js';

export { DnsMessageError, TYPE } from './message-reader.js';

/** A question for a name server. */
export interface Question {
  name: string;
  type: number;
  /** The options (RFC 6891), with which a reply may exceed 512 bytes; null: none; absent: the default ones. */
  options?: { dnssec: boolean } | null;
  /** Asks the server not to validate (RFC 4035 3.2.2). */
  unchecked?: boolean;
}

export interface DnsReply {
  id: number;
  /** 0 no error, 2 server failure, 3 no such name, 5 refused. */
  code: number;
  truncated: boolean;
  question: { name: string; type: number };
  /** In the order of the message; addresses and aliases only. */
  records: { name: string; type: number; ttl: number; value: string }[];
}

const FLAG_REPLY = 0x8000;
const FLAG_TRUNCATED = 0x0200;
const RECURSION_DESIRED = 0x0100;
const CHECKING_DISABLED = 0x0010;
/** The largest UDP reply that is not fragmented on the way (DNS flag day 2020). */
export const UDP_PAYLOAD = 1232;
const MAX_ALIASES = 8;

/** @throws DnsMessageError for an invalid domain name. */
export function encodeQuestion(id: number, name: string, type: number, asked: Partial<Question> = {}): Buffer {
  const labels = name === '' ? [] : name.split('.').map((label) => Buffer.from(label, 'latin1'));
  if (name.length > MAX_NAME - 2 || labels.some(({ length }) => length === 0 || length > 63)) {
    throw new DnsMessageError('not a domain name');
  }
  const { options = { dnssec: false }, unchecked = false } = asked;
  const flags = RECURSION_DESIRED | (unchecked ? CHECKING_DISABLED : 0);
  const header = Buffer.alloc(HEADER);
  for (const [i, value] of [id, flags, 1, 0, 0, options ? 1 : 0].entries()) header.writeUInt16BE(value, i * 2);
  const wire = labels.flatMap((label) => [Buffer.from([label.length]), label]);
  const tail = Buffer.from([0, type >> 8, type & 255, 0, CLASS_IN]);
  return Buffer.concat([header, ...wire, tail, ...(options ? [encodeOptions(0, options.dnssec)] : [])]);
}

/** The record with the options; `highCode`: the bits of the reply's code that do not fit its header. */
export function encodeOptions(highCode: number, dnssec: boolean): Buffer {
  return Buffer.from([0, 0, TYPE.OPT, UDP_PAYLOAD >> 8, UDP_PAYLOAD & 255, highCode, 0, dnssec ? 0x80 : 0, 0, 0, 0]);
}

/** Takes time bounded by the length of the message. @throws DnsMessageError */
export function decodeReply(bytes: Buffer): DnsReply {
  if (bytes.length < HEADER) throw new DnsMessageError('shorter than a header');
  const flags = bytes.readUInt16BE(2);
  if ((flags & FLAG_REPLY) === 0) throw new DnsMessageError('not a reply');
  if (bytes.readUInt16BE(4) !== 1) throw new DnsMessageError('not a reply to one question');
  const reader = new MessageReader(bytes, HEADER);
  const question = { name: reader.name(), type: reader.uint16() };
  if (reader.uint16() !== CLASS_IN) throw new DnsMessageError('another class');
  const reply: DnsReply = {
    id: bytes.readUInt16BE(0),
    code: flags & 15,
    truncated: (flags & FLAG_TRUNCATED) !== 0,
    question,
    records: [],
  };
  // A truncated reply is requested again over TCP.
  if (!reply.truncated) readRecords(reader, bytes.readUInt16BE(6), reply);
  return reply;
}

/** The addresses of the requested name, following aliases, with the shortest lifetime on the way in seconds. */
export function addressesIn({ question, records }: DnsReply): { addresses: string[]; ttl: number | null } {
  let name = question.name;
  const ttls: number[] = [];
  for (let hop = 0; hop <= MAX_ALIASES; hop++) {
    const own = records.filter((record) => record.name === name);
    const addresses = own.filter(({ type }) => type === question.type);
    if (addresses.length > 0) {
      const ttl = Math.min(...ttls, ...addresses.map((record) => record.ttl));
      return { addresses: [...new Set(addresses.map(({ value }) => value))], ttl };
    }
    const alias = own.find(({ type }) => type === TYPE.CNAME);
    if (!alias) break;
    ttls.push(alias.ttl);
    name = alias.value;
  }
  return { addresses: [], ttl: null };
}

function readRecords(reader: MessageReader, count: number, reply: DnsReply): void {
  for (let i = 0; i < count; i++) {
    const name = reader.name();
    const type = reader.uint16();
    const recordClass = reader.uint16();
    // RFC 2181 8: a lifetime with the highest bit set counts as 0.
    const ttl = reader.uint32() | 0;
    const value = reader.value(type);
    if (recordClass === CLASS_IN && value !== null) reply.records.push({ name, type, ttl: Math.max(0, ttl), value });
  }
}
