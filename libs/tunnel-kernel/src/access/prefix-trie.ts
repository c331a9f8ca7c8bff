import type { Cidr, IpAddress } from '@gatehouse/net';

export interface PrefixEntry {
  cidr: Cidr;
  /** The lowest wins; not negative. */
  rank: number;
}

/** No prefix contains the address. */
export const NO_RANK = 0x7fffffff;
const NOWHERE = -1;

/**
 * An immutable radix tree over prefixes of both families. One walk finds the lowest rank among all prefixes that
 * contain an address. Paths are compressed, so that an address meets about log2(n) nodes; each node stores the best
 * rank of itself and its ancestors.
 */
export class PrefixTrie {
  private readonly v4: FamilyTrie;
  private readonly v6: FamilyTrie;

  constructor(entries: readonly PrefixEntry[]) {
    this.v4 = new FamilyTrie(
      1,
      entries.filter(({ cidr }) => cidr.family === 4),
    );
    this.v6 = new FamilyTrie(
      4,
      entries.filter(({ cidr }) => cidr.family === 6),
    );
  }

  /** `NO_RANK` if there is none. */
  find({ family, words }: IpAddress): number {
    return family === 4 ? this.v4.find(words) : this.v6.find(words);
  }
}

/** Offsets of a node's fields; the words of its prefix follow. */
const LENGTH = 0;
/** The child for bit 0; the one for bit 1 comes after it. */
const BELOW = 1;
const BEST = 3;
const WORDS = 4;

class FamilyTrie {
  private readonly entries: PrefixEntry[];
  /** Numbers per node: they are stored together, so that each step of the walk touches one cache line. */
  private readonly stride: number;
  private readonly nodes: Int32Array;
  private readonly root: number;
  private size = 0;

  /** `width`: number of 32-bit words of an address. */
  constructor(width: 1 | 4, entries: readonly PrefixEntry[]) {
    this.stride = WORDS + width;
    this.entries = distinct(entries);
    // One node per prefix, and one per fork between two of them.
    this.nodes = new Int32Array(Math.max(0, this.entries.length * 2 - 1) * this.stride);
    this.root = this.build(0, this.entries.length, NO_RANK);
    this.entries = [];
  }

  find(words: readonly number[]): number {
    const { nodes } = this;
    let found = NO_RANK;
    let node = this.root;
    while (node !== NOWHERE && this.holds(node, words)) {
      found = nodes[node + BEST] ?? NO_RANK;
      const length = nodes[node + LENGTH] ?? 0;
      if (length === words.length * 32) break;
      node = nodes[node + BELOW + bitAt(words, length)] ?? NOWHERE;
    }
    return found;
  }

  private holds(node: number, words: readonly number[]): boolean {
    const { nodes } = this;
    let left = nodes[node + LENGTH] ?? 0;
    for (let index = 0; left > 0; index++, left -= 32) {
      const differs = (nodes[node + WORDS + index] ?? 0) ^ (words[index] ?? 0);
      if ((left >= 32 ? differs : differs >>> (32 - left)) !== 0) return false;
    }
    return true;
  }

  /**
   * Builds a node for the sorted entries from `from` to `to`: the first has the shortest prefix of those with the same
   * beginning.
   */
  private build(from: number, to: number, inherited: number): number {
    const first = this.entries[from];
    const last = this.entries[to - 1];
    if (!first || !last || from >= to) return NOWHERE;
    const { words, prefix } = first.cidr;
    const length = Math.min(prefix, commonBits(words, last.cidr.words));
    const own = prefix === length;
    const best = own ? Math.min(inherited, first.rank) : inherited;
    const node = this.size;
    this.size += this.stride;
    const start = from + Number(own);
    const fork = this.firstWithOne(start, to, length);
    this.nodes.set([length, this.build(start, fork, best), this.build(fork, to, best), best, ...words], node);
    return node;
  }

  private firstWithOne(from: number, to: number, bit: number): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (bitAt(this.entries[middle]?.cidr.words ?? [], bit) === 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Sorted by address, then length; of equal prefixes the best rank. */
function distinct(entries: readonly PrefixEntry[]): PrefixEntry[] {
  const sorted = entries.toSorted((a, b) => compare(a.cidr, b.cidr) || a.rank - b.rank);
  return sorted.filter((entry, index) => {
    const before = sorted[index - 1];
    return !before || compare(before.cidr, entry.cidr) !== 0;
  });
}

function compare(a: Cidr, b: Cidr): number {
  for (let index = 0; index < a.words.length; index++) {
    const difference = (a.words[index] ?? 0) - (b.words[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.prefix - b.prefix;
}

function commonBits(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < a.length; index++) {
    const differs = (a[index] ?? 0) ^ (b[index] ?? 0);
    if (differs !== 0) return index * 32 + Math.clz32(differs);
  }
  return a.length * 32;
}

function bitAt(words: readonly number[], position: number): number {
  return ((words[position >>> 5] ?? 0) >>> (31 - (position & 31))) & 1;
}
