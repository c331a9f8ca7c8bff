/**
 * All DOMAIN and DOMAIN-SUFFIX rules in one open-addressing hash over typed arrays. A lookup rolls one hash over the host
 * from its end and probes at every label boundary, so its cost is the host's length and not the number of rules.
 *
 * The hash is seeded, and a hit counts only after the stored text has been compared: names made to collide can cost a few
 * probes but never lead a flow to a wrong rule.
 */
import { randomBytes } from 'node:crypto';
import type { Accept } from './accept.js';

export interface DomainEntry {
  /** Lower-case ASCII. */
  readonly domain: string;
  /** True for DOMAIN-SUFFIX. */
  readonly below: boolean;
  readonly rule: number;
}

const DOT = 46;
const NONE = -1;

export class DomainTable {
  readonly #seed: number;
  readonly #mask: number;
  /** Slot to name, NONE where empty. Names are numbered in order of appearance. */
  readonly #slots: Int32Array;
  readonly #hashes: Uint32Array;
  /** Text of name `n` is `pool[ends[n - 1]..ends[n]]`. */
  readonly #pool: Uint8Array;
  readonly #ends: Uint32Array;
  /** First and last entry of a name; entries of one name form a list in rule order. */
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #next: Int32Array;
  readonly #rules: Uint32Array;
  readonly #below: Uint8Array;
  #names = 0;

  /** `entries` in rule order. */
  constructor(entries: readonly DomainEntry[], seed: number = randomBytes(4).readUInt32LE()) {
    const count = entries.length;
    const slots = 1 << Math.ceil(Math.log2(Math.max(8, count * 2)));
    this.#seed = seed;
    this.#mask = slots - 1;
    this.#slots = new Int32Array(slots).fill(NONE);
    this.#hashes = new Uint32Array(count);
    this.#pool = new Uint8Array(entries.reduce((sum, entry) => sum + entry.domain.length, 0));
    this.#ends = new Uint32Array(count);
    this.#first = new Int32Array(count).fill(NONE);
    this.#last = new Int32Array(count).fill(NONE);
    this.#next = new Int32Array(count).fill(NONE);
    this.#rules = Uint32Array.from(entries, (entry) => entry.rule);
    this.#below = Uint8Array.from(entries, (entry) => (entry.below ? 1 : 0));
    for (const [i, entry] of entries.entries()) this.#add(i, entry.domain);
  }

  /** Smallest accepted rule in `[from, to)` for `host` or a name above it; `to` when there is none. */
  find(host: string, from: number, to: number, accept: Accept): number {
    let best = to;
    let hash = this.#seed;
    for (let i = host.length - 1; i >= 0; i--) {
      const code = host.charCodeAt(i);
      if (code === DOT) best = this.#probe(host, i + 1, mix(hash), from, best, accept);
      hash = roll(hash, code);
    }
    return this.#probe(host, 0, mix(hash), from, best, accept);
  }

  get bytes(): number {
    const arrays = [
      this.#slots,
      this.#hashes,
      this.#pool,
      this.#ends,
      this.#first,
      this.#last,
      this.#next,
      this.#rules,
      this.#below,
    ];
    return arrays.reduce((sum, array) => sum + array.byteLength, 0);
  }

  // The one hot function of the router: six plain numbers are cheaper than an object a probe.
  // oxlint-disable-next-line max-params
  #probe(host: string, start: number, hash: number, from: number, best: number, accept: Accept): number {
    const name = this.#lookup(host, start, hash);
    if (name === NONE) return best;
    const whole = start === 0;
    for (let entry = this.#first[name] ?? NONE; entry !== NONE; entry = this.#next[entry] ?? NONE) {
      const rule = this.#rules[entry] ?? best;
      if (rule >= best) return best;
      if (rule >= from && (whole || this.#below[entry] === 1) && accept(rule)) return rule;
    }
    return best;
  }

  #lookup(host: string, start: number, hash: number): number {
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const name = this.#slots[slot] ?? NONE;
      if (name === NONE || (this.#hashes[name] === hash && this.#isName(name, host, start))) return name;
    }
  }

  #isName(name: number, host: string, start: number): boolean {
    const begin = name === 0 ? 0 : (this.#ends[name - 1] ?? 0);
    const length = (this.#ends[name] ?? 0) - begin;
    if (length !== host.length - start) return false;
    for (let i = 0; i < length; i++) if (this.#pool[begin + i] !== host.charCodeAt(start + i)) return false;
    return true;
  }

  #add(entry: number, domain: string): void {
    const hash = hashDomain(domain, this.#seed);
    const known = this.#lookup(domain, 0, hash);
    const name = known === NONE ? this.#addName(domain, hash) : known;
    const last = this.#last[name] ?? NONE;
    if (last === NONE) this.#first[name] = entry;
    else this.#next[last] = entry;
    this.#last[name] = entry;
  }

  #addName(domain: string, hash: number): number {
    const name = this.#names++;
    const begin = name === 0 ? 0 : (this.#ends[name - 1] ?? 0);
    for (let i = 0; i < domain.length; i++) this.#pool[begin + i] = domain.charCodeAt(i);
    this.#ends[name] = begin + domain.length;
    this.#hashes[name] = hash;
    let slot = hash & this.#mask;
    while (this.#slots[slot] !== NONE) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = name;
    return name;
  }
}

/** The hash of a whole name, as a lookup arrives at it. */
export function hashDomain(domain: string, seed: number): number {
  let hash = seed;
  for (let i = domain.length - 1; i >= 0; i--) hash = roll(hash, domain.charCodeAt(i));
  return mix(hash);
}

function roll(hash: number, code: number): number {
  const next = Math.imul(hash ^ code, 0x01000193);
  return next ^ (next >>> 15);
}

function mix(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (once ^ (once >>> 13)) >>> 0;
}
