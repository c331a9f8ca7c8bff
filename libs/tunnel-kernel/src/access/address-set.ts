import type { IpAddress } from '@gatehouse/net';
import { wordsOf } from './ip-range.js';

/** First and last address, both included. */
export interface AddressRange {
  family: 4 | 6;
  first: bigint;
  last: bigint;
}

const V4_BYTES = 8;
const V6_BYTES = 32;
const COUNT_BYTES = 4;
const WORD_BYTES = 4;

/**
 * Many addresses as sorted ranges, found by halving. It takes 8 bytes for a range of IPv4 and 32 for one of IPv6, and its text
 * form is read without parsing addresses. Immutable.
 */
export class AddressSet {
  private readonly v4: Uint32Array;
  private readonly v6: Uint32Array;

  private constructor(v4: Uint32Array, v6: Uint32Array) {
    this.v4 = v4;
    this.v6 = v6;
  }

  /** Ranges that overlap or touch become one. */
  static of(ranges: readonly AddressRange[]): AddressSet {
    const wordsOfFamily = (family: 4 | 6): Uint32Array =>
      Uint32Array.from(
        joined(ranges.filter((range) => range.family === family)).flatMap(({ first, last }) => [
          ...wordsOf(family, first),
          ...wordsOf(family, last),
        ]),
      );
    return new AddressSet(wordsOfFamily(4), wordsOfFamily(6));
  }

  /** Null: the text was not made by `encode`. */
  static decode(text: string): AddressSet | null {
    const bytes = Buffer.from(text, 'base64');
    const count = bytes.length < COUNT_BYTES ? -1 : bytes.readUInt32BE(0);
    const split = COUNT_BYTES + count * V4_BYTES;
    if (count < 0 || split > bytes.length || (bytes.length - split) % V6_BYTES !== 0) return null;
    const [v4, v6] = [readWords(bytes.subarray(COUNT_BYTES, split)), readWords(bytes.subarray(split))];
    return isOrdered(v4, 1) && isOrdered(v6, 4) ? new AddressSet(v4, v6) : null;
  }

  /** Equal sets have equal texts. */
  encode(): string {
    const bytes = Buffer.alloc(COUNT_BYTES + (this.v4.length + this.v6.length) * WORD_BYTES);
    bytes.writeUInt32BE(this.v4.length / 2, 0);
    let at = COUNT_BYTES;
    for (const words of [this.v4, this.v6]) {
      for (const word of words) at = bytes.writeUInt32BE(word, at);
    }
    return bytes.toString('base64');
  }

  /** Number of ranges. */
  get size(): number {
    return this.v4.length / 2 + this.v6.length / 8;
  }

  has({ family, words }: IpAddress): boolean {
    const [bounds, width] = family === 4 ? [this.v4, 1] : [this.v6, 4];
    let low = 0;
    let high = bounds.length / (2 * width);
    // The last range that does not begin after the address.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(bounds, middle * 2 * width, words) <= 0) low = middle + 1;
      else high = middle;
    }
    return low > 0 && compare(bounds, ((low - 1) * 2 + 1) * width, words) >= 0;
  }
}

/** Compares the address at `at` with `words`. */
function compare(bounds: Uint32Array, at: number, words: ArrayLike<number>): number {
  for (let index = 0; index < words.length; index++) {
    const difference = (bounds[at + index] ?? 0) - (words[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether each range ends after it begins, and begins after the one before. */
function isOrdered(bounds: Uint32Array, width: number): boolean {
  for (let at = width; at < bounds.length; at += width) {
    const order = compare(bounds, at - width, bounds.subarray(at, at + width));
    const isEnd = (at / width) % 2 === 1;
    if (isEnd ? order > 0 : order >= 0) return false;
  }
  return true;
}

function joined(ranges: AddressRange[]): AddressRange[] {
  const result: AddressRange[] = [];
  for (const range of ranges.sort((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)))) {
    const before = result.at(-1);
    if (before === undefined || range.first > before.last + 1n) result.push({ ...range });
    else if (range.last > before.last) before.last = range.last;
  }
  return result;
}

function readWords(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(bytes.length / WORD_BYTES);
  for (let index = 0; index < words.length; index++) words[index] = bytes.readUInt32BE(index * WORD_BYTES);
  return words;
}
