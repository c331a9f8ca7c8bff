/** The data section of the MaxMind DB format 2.0: values with a type and a size in their first bytes, and pointers between them. */
import { GeoDatabaseError } from './geo-database-error.js';

export type DataValue = string | number | bigint | boolean | null | Map<string, DataValue> | DataValue[];

/** Nothing in a country database nests deeper than five. */
const MAX_DEPTH = 16;
/** Of one text. The longest real one is a description in the metadata. */
const MAX_TEXT = 4096;
/** Smallest value of each pointer size, and of each size that is written in extra bytes. */
const POINTER_BASE = [0, 2048, 526_336, 0] as const;
const SIZE_BASE = [29, 285, 65_821] as const;

const POINTER = 1;
const UTF8 = 2;
const DOUBLE = 3;
const BYTES = 4;
const UINT16 = 5;
const UINT32 = 6;
const MAP = 7;
const INT32 = 8;
const UINT64 = 9;
const UINT128 = 10;
const ARRAY = 11;
const BOOLEAN = 14;
const FLOAT = 15;
/** Widest form of each unsigned type; shorter ones drop leading zeros. */
const UINT_BYTES: Readonly<Record<number, number>> = { [UINT16]: 2, [UINT32]: 4, [UINT64]: 8, [UINT128]: 16 };

/**
 * Reads values by offset. A file may point in circles, nest without end or claim sizes it does not have; every step is
 * checked against the section, and all steps of one reader together against one budget.
 */
export class DataSection {
  readonly #bytes: Buffer;
  #budget: number;
  #at = 0;

  /** `budget` counts values and 32-byte pieces of text. */
  constructor(bytes: Buffer, budget: number) {
    this.#bytes = bytes;
    this.#budget = budget;
  }

  /** @throws GeoDatabaseError */
  read(offset: number): DataValue {
    this.#at = offset;
    return this.#value(0, true);
  }

  #value(depth: number, mayPoint: boolean): DataValue {
    this.#spend(1);
    if (depth > MAX_DEPTH) throw new GeoDatabaseError('values nest too deep');
    const control = this.#byte();
    const type = control >> 5 === 0 ? this.#byte() + 7 : control >> 5;
    if (type !== POINTER) return this.#plain(type, this.#size(control & 31), depth);
    if (!mayPoint) throw new GeoDatabaseError('a pointer to a pointer');
    return this.#pointer(control, depth);
  }

  #plain(type: number, size: number, depth: number): DataValue {
    if (type === UTF8) return this.#text(size);
    if (type === MAP) return this.#map(size, depth);
    if (type === ARRAY) return this.#array(size, depth);
    if (type === BOOLEAN && size <= 1) return size === 1;
    if (type === DOUBLE && size === 8) return this.#bytes.readDoubleBE(this.#take(size));
    if (type === FLOAT && size === 4) return this.#bytes.readFloatBE(this.#take(size));
    if (type === INT32 && size <= 4) return this.#unsigned(size) | 0;
    if (type === BYTES) {
      this.#take(size);
      return null;
    }
    if (size <= (UINT_BYTES[type] ?? -1)) return size <= 6 ? this.#unsigned(size) : this.#wide(size);
    throw new GeoDatabaseError(`no such value: type ${type}, ${size} bytes`);
  }

  #pointer(control: number, depth: number): DataValue {
    const size = (control >> 3) & 3;
    const high = size === 3 ? 0 : control & 7;
    const target = high * 2 ** (8 * (size + 1)) + this.#unsigned(size + 1) + (POINTER_BASE[size] ?? 0);
    const resume = this.#at;
    this.#at = target;
    const value = this.#value(depth + 1, false);
    this.#at = resume;
    return value;
  }

  #map(size: number, depth: number): Map<string, DataValue> {
    const map = new Map<string, DataValue>();
    for (let i = 0; i < size; i++) {
      const key = this.#value(depth + 1, true);
      if (typeof key !== 'string') throw new GeoDatabaseError('a map key that is no text');
      map.set(key, this.#value(depth + 1, true));
    }
    return map;
  }

  #array(size: number, depth: number): DataValue[] {
    const items: DataValue[] = [];
    for (let i = 0; i < size; i++) items.push(this.#value(depth + 1, true));
    return items;
  }

  #text(size: number): string {
    if (size > MAX_TEXT) throw new GeoDatabaseError('a text that is too long');
    this.#spend(size >> 5);
    const start = this.#take(size);
    return this.#bytes.toString('utf8', start, start + size);
  }

  #size(low: number): number {
    if (low < 29) return low;
    return this.#unsigned(low - 28) + (SIZE_BASE[low - 29] ?? 0);
  }

  /** Up to six bytes as a number. */
  #unsigned(size: number): number {
    return size === 0 ? 0 : this.#bytes.readUIntBE(this.#take(size), size);
  }

  #wide(size: number): bigint {
    const start = this.#take(size);
    return BigInt(`0x${this.#bytes.toString('hex', start, start + size)}`);
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  /** Moves on by `size` and gives the offset before it. */
  #take(size: number): number {
    const start = this.#at;
    if (start < 0 || start + size > this.#bytes.length)
      throw new GeoDatabaseError('a value beyond the end of the file');
    this.#at += size;
    return start;
  }

  #spend(amount: number): void {
    this.#budget -= amount;
    if (this.#budget < 0) throw new GeoDatabaseError('more values than such a database has');
  }
}
