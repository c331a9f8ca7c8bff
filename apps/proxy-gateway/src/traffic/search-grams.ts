/** Lengths of the grams of a text: short ones for short keywords, a long one because those are rare. */
const LENGTHS = [1, 2, 3, 5] as const;
const LONGEST = 5;
/** The most grams of a keyword that are checked; more would hardly narrow the search further. */
const MAX_ASKED = 12;
/** 16 KiB: the 16,000 different grams of a usual section set an eighth of the bits. */
const FILTER_BYTES = 2 ** 14;
const BIT_MASK = FILTER_BYTES * 8 - 1;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const GOLDEN = 0x9e3779b1;

/** A Bloom filter of the grams in a text. It has no false negatives. */
export class GramFilter {
  readonly bytes = Buffer.alloc(FILTER_BYTES);
  #set = 0;

  /** The share of bits that are set, which is the rate of false positives. */
  get fill(): number {
    return this.#set / (FILTER_BYTES * 8);
  }

  add(text: string): void {
    for (const length of LENGTHS) {
      for (let end = length; end <= text.length; end++) {
        const hash = hashOf(text, end - length, end);
        this.#setBit(firstBit(hash));
        if (length < LONGEST) this.#setBit(secondBit(hash));
      }
    }
  }

  #setBit(bit: number): void {
    const before = this.bytes[bit >> 3] ?? 0;
    const after = before | (1 << (bit & 7));
    if (after === before) return;
    this.bytes[bit >> 3] = after;
    this.#set++;
  }
}

/** The bits that are set in the filter of every text with the keyword. Empty only for an empty keyword. */
export function gramsOfKeyword(keyword: string): number[] {
  const length = LENGTHS.findLast((candidate) => candidate <= keyword.length) ?? 0;
  const bits = new Set<number>();
  for (let end = length; length > 0 && end <= keyword.length; end++) {
    const hash = hashOf(keyword, end - length, end);
    bits.add(firstBit(hash));
    if (length < LONGEST) bits.add(secondBit(hash));
  }
  const all = [...bits];
  const step = Math.max(1, all.length / MAX_ASKED);
  return Array.from({ length: Math.min(all.length, MAX_ASKED) }, (_, index) => all[Math.floor(index * step)] ?? 0);
}

/** An SQL condition on a column with a filter. It reads single bytes, because the value is stored out of line. */
export function filterHolds(column: string, bits: readonly number[]): string {
  const tests = bits.map(
    (bit) => `get_byte(substring(${column} FROM ${(bit >> 3) + 1} FOR 1), 0) & ${1 << (bit & 7)} <> 0`,
  );
  return tests.length === 0 ? 'true' : tests.join(' AND ');
}

/** FNV-1a of the length and the UTF-16 code units. */
function hashOf(text: string, start: number, end: number): number {
  let value = FNV_OFFSET ^ (end - start);
  for (let index = start; index < end; index++) value = Math.imul(value ^ text.charCodeAt(index), FNV_PRIME);
  return value;
}

function firstBit(hash: number): number {
  return (hash ^ (hash >>> 17)) & BIT_MASK;
}

/** A keyword has few short grams, so each gets a second bit. */
function secondBit(hash: number): number {
  return (Math.imul(hash, GOLDEN) >>> 9) & BIT_MASK;
}
