/**
 * All prefixes of one family in sorted segments. Prefixes nest or are disjoint, so each segment of the address space
 * has one longest prefix, and all other prefixes over it are found by walking up from that one. A segment stores that
 * prefix, and a prefix stores the smallest rule among itself and those above it, so the usual answer takes one search
 * and one read.
 */
import { type Cidr, cidrContains } from '@gatehouse/net';
import type { Accept } from './accept.js';

export interface PrefixEntry {
  readonly cidr: Cidr;
  readonly rule: number;
}

const NONE = -1;
/** Words of addresses, for building and searching; IPv4 has one, IPv6 four. */
type Words = ArrayLike<number>;

export class PrefixTable {
  readonly #width: number;
  /** The first address of each segment, with `width` words each, ascending. */
  readonly #starts: Uint32Array;
  /** The longest prefix over each segment; NONE if there is none. */
  readonly #segmentPrefix: Int32Array;
  /** The enclosing prefix, and the smallest rule of a prefix and all that enclose it. */
  readonly #parent: Int32Array;
  readonly #smallest: Uint32Array;
  /** The rules of prefix `p`, ascending: `rules[ruleEnds[p - 1]..ruleEnds[p]]`. */
  readonly #ruleEnds: Uint32Array;
  readonly #rules: Uint32Array;
  /** IPv4: for each /16 the segment of its first address. */
  readonly #level1: Int32Array | null;

  constructor(width: 1 | 4, entries: readonly PrefixEntry[]) {
    const built = new Sweep(width, entries);
    this.#width = width;
    this.#starts = Uint32Array.from(built.starts);
    this.#segmentPrefix = Int32Array.from(built.segmentPrefix);
    this.#parent = Int32Array.from(built.parent);
    this.#ruleEnds = Uint32Array.from(built.ruleEnds);
    this.#rules = Uint32Array.from(built.rules);
    this.#smallest = new Uint32Array(built.parent.length);
    for (const [prefix, parent] of built.parent.entries()) {
      const own = this.#rules[prefix === 0 ? 0 : (this.#ruleEnds[prefix - 1] ?? 0)] ?? 0;
      this.#smallest[prefix] = parent === NONE ? own : Math.min(own, this.#smallest[parent] ?? own);
    }
    this.#level1 = width === 1 && built.parent.length > 0 ? this.#firstLevel() : null;
  }

  /** The smallest accepted rule in `[from, to)` whose prefix contains the address; `to` if there is none. */
  find(words: Words, from: number, to: number, accept: Accept): number {
    let best = to;
    let prefix = this.#segmentPrefix[this.#segmentOf(words)] ?? NONE;
    for (; prefix !== NONE && (this.#smallest[prefix] ?? best) < best; prefix = this.#parent[prefix] ?? NONE) {
      const end = this.#ruleEnds[prefix] ?? 0;
      for (let i = prefix === 0 ? 0 : (this.#ruleEnds[prefix - 1] ?? 0); i < end; i++) {
        const rule = this.#rules[i] ?? best;
        if (rule >= best) break;
        if (rule < from || !accept(rule)) continue;
        best = rule;
        break;
      }
    }
    return best;
  }

  get bytes(): number {
    const arrays = [this.#starts, this.#segmentPrefix, this.#parent, this.#smallest, this.#ruleEnds, this.#rules];
    return arrays.reduce((sum, array) => sum + array.byteLength, this.#level1?.byteLength ?? 0);
  }

  /** The last segment that starts at or before the address; NONE before the first. */
  #segmentOf(words: Words): number {
    let low = NONE;
    let high = this.#segmentPrefix.length - 1;
    if (this.#level1) {
      const block = (words[0] ?? 0) >>> 16;
      low = this.#level1[block] ?? NONE;
      high = block === 0xffff ? high : (this.#level1[block + 1] ?? high);
    }
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#startsAfter(middle, words)) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  #startsAfter(segment: number, words: Words): boolean {
    for (let i = 0, at = segment * this.#width; i < this.#width; i++, at++) {
      const difference = (this.#starts[at] ?? 0) - (words[i] ?? 0);
      if (difference !== 0) return difference > 0;
    }
    return false;
  }

  #firstLevel(): Int32Array {
    const level = new Int32Array(0x10000);
    let segment = NONE;
    for (let block = 0; block < level.length; block++) {
      while ((this.#starts[segment + 1] ?? Infinity) <= block * 0x10000) segment++;
      level[block] = segment;
    }
    return level;
  }
}

/** Walks the prefixes in address order with a stack of the open ones, and records where the innermost one changes. */
class Sweep {
  readonly starts: number[] = [];
  readonly segmentPrefix: number[] = [];
  readonly parent: number[] = [];
  readonly ruleEnds: number[] = [];
  readonly rules: number[] = [];
  readonly #width: number;
  readonly #cidrs: Cidr[] = [];
  readonly #open: number[] = [];

  constructor(width: 1 | 4, entries: readonly PrefixEntry[]) {
    this.#width = width;
    for (const entry of entries.toSorted(compareEntries)) this.#add(entry);
    while (this.#open.length > 0) this.#close();
  }

  #add({ cidr, rule }: PrefixEntry): void {
    const previous = this.#cidrs.at(-1);
    if (!previous || previous.prefix !== cidr.prefix || compareWords(previous.words, cidr.words) !== 0) {
      this.#openPrefix(cidr);
    } else if (this.rules.at(-1) === rule) {
      return;
    }
    this.rules.push(rule);
    this.ruleEnds[this.#cidrs.length - 1] = this.rules.length;
  }

  #openPrefix(cidr: Cidr): void {
    for (let top = this.#top(); top && !encloses(top, cidr); top = this.#top()) this.#close();
    this.parent.push(this.#open.at(-1) ?? NONE);
    const prefix = this.#cidrs.push(cidr) - 1;
    this.#open.push(prefix);
    this.#segment(cidr.words, prefix);
  }

  #close(): void {
    const closed = this.#open.pop();
    const cidr = closed === undefined ? undefined : this.#cidrs[closed];
    const after = cidr ? addressAfter(cidr) : null;
    if (after) this.#segment(after, this.#open.at(-1) ?? NONE);
  }

  #top(): Cidr | undefined {
    return this.#cidrs[this.#open.at(-1) ?? NONE];
  }

  /** A segment that starts at the same address as the last one replaces it, since nothing lies between them. */
  #segment(start: readonly number[], prefix: number): void {
    const last = this.starts.slice(-this.#width);
    if (this.segmentPrefix.length > 0 && compareWords(last, start) === 0) {
      this.segmentPrefix[this.segmentPrefix.length - 1] = prefix;
      return;
    }
    this.starts.push(...start);
    this.segmentPrefix.push(prefix);
  }
}

/** By first address, wider before narrower, then by rule. */
function compareEntries(a: PrefixEntry, b: PrefixEntry): number {
  return compareWords(a.cidr.words, b.cidr.words) || a.cidr.prefix - b.cidr.prefix || a.rule - b.rule;
}

function compareWords(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function encloses(outer: Cidr, inner: Cidr): boolean {
  return outer.prefix <= inner.prefix && cidrContains(outer, inner);
}

/** The first address after a prefix; null after the last one. */
function addressAfter(cidr: Cidr): number[] | null {
  const words = [...cidr.words];
  if (cidr.prefix === 0) return null;
  let carry = 2 ** (31 - ((cidr.prefix - 1) % 32));
  for (let i = Math.floor((cidr.prefix - 1) / 32); i >= 0 && carry > 0; i--) {
    const sum = (words[i] ?? 0) + carry;
    words[i] = sum >>> 0;
    carry = sum > 0xffffffff ? 1 : 0;
  }
  return carry === 0 ? words : null;
}
