/** DNS messages (RFC 1035): one question out, the addresses of its answer in. */
import { formatIp } from '@gatehouse/net';

export const TYPE = { A: 1, CNAME: 5, AAAA: 28, OPT: 41 } as const;
export type AddressType = typeof TYPE.A | typeof TYPE.AAAA;

/** A reply that is no DNS message, or not one to the question. */
export class DnsMessageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DnsMessageError';
  }
}

export interface DnsReply {
  id: number;
  /** 0 no error, 2 server failure, 3 no such name, 5 refused. */
  code: number;
  truncated: boolean;
  question: { name: string; type: number };
  /** In the order of the message; address records and aliases only. */
  records: { name: string; type: number; ttl: number; value: string }[];
}

const HEADER = 12;
const CLASS_IN = 1;
const FLAG_REPLY = 0x8000;
const FLAG_TRUNCATED = 0x0200;
const RECURSION_DESIRED = 0x0100;
/** What a reply may have over UDP without being cut up on the way (DNS flag day 2020). */
const UDP_PAYLOAD = 1232;
/** Of a name in wire form (RFC 1035 2.3.4). */
const MAX_NAME = 255;
const MAX_ALIASES = 8;

/** @throws DnsMessageError for what is no domain name. */
export function encodeQuestion(id: number, name: string, type: AddressType): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'));
  if (name === '' || name.length > MAX_NAME - 2 || labels.some(({ length }) => length === 0 || length > 63)) {
    throw new DnsMessageError('not a domain name');
  }
  const header = Buffer.alloc(HEADER);
  for (const [i, value] of [id, RECURSION_DESIRED, 1, 0, 0, 1].entries()) header.writeUInt16BE(value, i * 2);
  const wire = labels.flatMap((label) => [Buffer.from([label.length]), label]);
  const tail = Buffer.from([0, 0, type, 0, CLASS_IN]);
  const options = Buffer.from([0, 0, TYPE.OPT, UDP_PAYLOAD >> 8, UDP_PAYLOAD & 255, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, ...wire, tail, options]);
}

/** @throws DnsMessageError; in time bounded by the length of the message. */
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
  // What was cut off is asked for again over TCP.
  if (!reply.truncated) readRecords(reader, bytes.readUInt16BE(6), reply);
  return reply;
}

/** The addresses of the name that was asked for, its aliases followed; the shortest lifetime on the way, in seconds. */
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
    // RFC 2181 8: a lifetime with the highest bit set is none.
    const ttl = reader.uint32() | 0;
    const value = reader.value(type);
    if (recordClass === CLASS_IN && value !== null) reply.records.push({ name, type, ttl: Math.max(0, ttl), value });
  }
}

class MessageReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  /** Lower case, without a dot at the end; labels that hold a dot or worse make it a name that nobody asked for. */
  name(): string {
    const labels: string[] = [];
    let length = 0;
    /** A pointer may only lead back, before where the name and any pointer in it began: so it cannot lead in circles. */
    let limit = this.#at;
    let resume = -1;
    for (;;) {
      const size = this.#bytes.readUInt8(this.#take(1));
      if (size === 0) break;
      if (size >= 0xc0) {
        const target = ((size & 0x3f) << 8) | this.#bytes.readUInt8(this.#take(1));
        if (target >= limit) throw new DnsMessageError('a name that leads in circles');
        if (resume < 0) resume = this.#at;
        limit = target;
        this.#at = target;
        continue;
      }
      length += size + 1;
      if (size > 63 || length > MAX_NAME) throw new DnsMessageError('a name that is too long');
      const start = this.#take(size);
      labels.push(this.#bytes.toString('latin1', start, start + size).toLowerCase());
    }
    if (resume >= 0) this.#at = resume;
    return labels.join('.');
  }

  /** Text of an address or an alias; null for records of other types, which are passed over. */
  value(type: number): string | null {
    const size = this.uint16();
    const start = this.#take(size);
    if (type === TYPE.A && size === 4) return formatIp({ family: 4, words: [this.#bytes.readUInt32BE(start)] });
    if (type === TYPE.AAAA && size === 16) {
      return formatIp({ family: 6, words: [0, 4, 8, 12].map((at) => this.#bytes.readUInt32BE(start + at)) });
    }
    if (type !== TYPE.CNAME) return null;
    const inside = new MessageReader(this.#bytes, start);
    return inside.name();
  }

  #take(size: number): number {
    const start = this.#at;
    if (start + size > this.#bytes.length) throw new DnsMessageError('a message that is cut short');
    this.#at += size;
    return start;
  }
}
