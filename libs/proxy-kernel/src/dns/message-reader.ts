import { formatIp } from '@gatehouse/net';

export const TYPE = { A: 1, CNAME: 5, AAAA: 28, OPT: 41, SVCB: 64, HTTPS: 65, ANY: 255 } as const;
export const CLASS_IN = 1;
/** Bytes before the question. */
export const HEADER = 12;
/** The longest name in wire form (RFC 1035 2.3.4). */
export const MAX_NAME = 255;

/** Bytes that are not a DNS message, or not the expected one. */
export class DnsMessageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DnsMessageError';
  }
}

/** Reads a message part by part. @throws DnsMessageError if it is truncated or its names form a cycle. */
export class MessageReader {
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

  /** Lower case, without a trailing dot. A label that contains a dot or worse gives a name that matches no question. */
  name(): string {
    const labels: string[] = [];
    let length = 0;
    /**
     * A pointer may only lead back, before the start of the name and of any pointer in it, so there can be no cycle.
     */
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

  /** The text of an address or an alias; null for records of other types, which are skipped. */
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
