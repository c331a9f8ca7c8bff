/** Lengths of the pieces a text is known by: short ones for short keywords, a long one because those are rare. */
const LENGTHS = [1, 2, 3, 5] as const;
const LONGEST = 5;
/** Pieces of a keyword that are asked for; more of them hardly narrow the search further. */
const MAX_ASKED = 12;
/** 16 KiB: an eighth of the bits are set by the 16,000 different pieces of a usual section. */
const FILTER_BYTES = 2 ** 14;
const BIT_MASK = FILTER_BYTES * 8 - 1;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const GOLDEN = 0x9e3779b1;

/** A Bloom filter: which pieces of text may be there. It never denies one that is. */
export class GramFilter {
  readonly bytes = Buffer.alloc(FILTER_BYTES);
  #set = 0;

  /** Share of the bits that are set: how often the filter is wrong about a piece. */
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

/** Bits that are set in the filter of every text that holds the keyword. Empty for an empty keyword only. */
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

/** What SQL asks of a column that holds a filter's bytes. Reads a byte at a time: the value is stored out of line. */
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

/** Of short pieces a keyword has few: a second bit makes up for that. */
function secondBit(hash: number): number {
  return (Math.imul(hash, GOLDEN) >>> 9) & BIT_MASK;
}
