import { RuleSetFileError } from './rule-set-file-error.js';

const MAX_UVARINT_BYTES = 8;

/** Reads a binary file within its bytes only, and refuses counts of more than is left. Throws `RuleSetFileError`. */
export class FileReader {
  readonly #bytes: Buffer;
  readonly #kind: string;
  #at = 0;

  /** `kind`: as errors call the file, `an mrs file`. */
  constructor(bytes: Buffer, kind: string) {
    this.#bytes = bytes;
    this.#kind = kind;
  }

  take(size: number): Buffer {
    if (size > this.#bytes.length - this.#at) throw this.#cutShort();
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  /** A count, in eight bytes, of items that take `size` bytes each or more. */
  count(size: number): number {
    return this.#checked(this.take(8).readBigInt64BE(), size);
  }

  /** The same as a number of variable length, lowest seven bits first. */
  shortCount(size: number): number {
    let value = 0n;
    for (let i = 0; i < MAX_UVARINT_BYTES; i++) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return this.#checked(value, size);
    }
    throw this.#cutShort();
  }

  #checked(value: bigint, size: number): number {
    if (value < 0n || value * BigInt(size) > BigInt(this.#bytes.length - this.#at)) throw this.#cutShort();
    return Number(value);
  }

  #cutShort(): RuleSetFileError {
    return new RuleSetFileError(`${this.#kind} that is cut short`);
  }
}
