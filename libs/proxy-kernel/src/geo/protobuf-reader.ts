import { GeoDatabaseError } from '@gatehouse/geo';

export interface ProtobufField {
  readonly number: number;
  /** Set for a number. */
  readonly varint: number | null;
  /** Set for a text or a nested message. */
  readonly bytes: Buffer | null;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Reads the fields of one protobuf message in order. Every length is checked against the remaining bytes. */
export class ProtobufReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @throws GeoDatabaseError */
  *fields(): Generator<ProtobufField> {
    while (this.#at < this.#bytes.length) {
      const key = this.#varint();
      const number = Math.floor(key / 8);
      if (number === 0) throw new GeoDatabaseError('a field without a number');
      yield this.#field(number, key % 8);
    }
  }

  #field(number: number, type: number): ProtobufField {
    if (type === VARINT) return { number, varint: this.#varint(), bytes: null };
    if (type === BYTES) return { number, varint: null, bytes: this.#take(this.#varint()) };
    if (type === FIXED64) return { number, varint: null, bytes: this.#take(8) && null };
    if (type === FIXED32) return { number, varint: null, bytes: this.#take(4) && null };
    throw new GeoDatabaseError('a field of no known type');
  }

  /** At most 53 bits: no length, number or kind in such a file is larger. */
  #varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
      const byte = this.#take(1)[0] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new GeoDatabaseError('a number that is too long');
  }

  #take(size: number): Buffer {
    if (size > this.#bytes.length - this.#at) throw new GeoDatabaseError('a value beyond the end of the file');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
