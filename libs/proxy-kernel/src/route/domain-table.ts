/**
 * All DOMAIN and DOMAIN-SUFFIX rules, or the names of all rule sets, in one open-addressing hash over typed arrays. A lookup rolls one hash over the host
 * from its end and probes at every label boundary, so its cost is the host's length and not the number of rules.
 *
 * The hash is seeded, and a hit counts only after the stored text has been compared: names made to collide can cost a few
 * probes but never lead a flow to a wrong rule.
 */
import { randomBytes } from 'node:crypto';
import type { Accept } from './accept.js';
import { matchesLabels } from './label-pattern.js';

/** Which names an entry stands for, as bits: its own, all below it, those one label below it; or those of a pattern. */
export const SCOPE = { exact: 1, below: 2, suffix: 3, oneLabel: 4, pattern: 8 } as const;
export type DomainScope = number;

export interface DomainEntry {
  /** Lower-case ASCII. */
  readonly domain: string;
  readonly scope: DomainScope;
  readonly rule: number;
  /** Scope `pattern`: all labels, `*` standing for any one. `domain` is what follows the last of these. */
  readonly labels?: readonly string[];
}

const DOT = 46;
const NONE = -1;
/** Four numbers a name and four an entry, side by side: a lookup pays for memory it has not touched lately, line by line. */
const STRIDE = 4;
const HASH = 0;
const BEGIN = 1;
const LENGTH = 2;
const FIRST = 3;
const RULE = 0;
const WHICH = 1;
const NEXT = 2;
const LAST = 3;

export class DomainTable {
  readonly #seed: number;
  readonly #mask: number;
  /** Slot to name, NONE where empty. Names are numbered in order of appearance. */
  readonly #slots: Int32Array;
  /** Hash, where the text begins in the pool, its length, first entry. */
  readonly #names: Int32Array;
  /** Rule, scope, next entry of the same name; in a first entry, the last one too. In rule order. */
  readonly #entries: Int32Array;
  readonly #pool: Uint8Array;
  /** By entry. */
  readonly #patterns = new Map<number, readonly string[]>();
  /** Patterns that end in `*`: there is nothing to look up. In rule order. */
  readonly #openEnded: DomainEntry[] = [];
  #nameCount = 0;
  #poolLength = 0;

  /** `entries` in rule order. */
  constructor(entries: readonly DomainEntry[], seed: number = randomBytes(4).readUInt32LE()) {
    const count = entries.length;
    const slots = 1 << Math.ceil(Math.log2(Math.max(8, count * 2)));
    this.#seed = seed;
    this.#mask = slots - 1;
    this.#slots = new Int32Array(slots).fill(NONE);
    this.#names = new Int32Array(count * STRIDE);
    this.#entries = new Int32Array(count * STRIDE);
    this.#pool = new Uint8Array(entries.reduce((sum, entry) => sum + entry.domain.length, 0));
    for (const [i, entry] of entries.entries()) this.#add(i, entry);
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
    best = this.#probe(host, 0, mix(hash), from, best, accept);
    return this.#openEnded.length === 0 ? best : this.#findOpenEnded(host, from, best, accept);
  }

  get bytes(): number {
    return this.#slots.byteLength + this.#names.byteLength + this.#entries.byteLength + this.#pool.byteLength;
  }

  // The one hot function of the router: six plain numbers are cheaper than an object a probe.
  // oxlint-disable-next-line max-params
  #probe(host: string, start: number, hash: number, from: number, best: number, accept: Accept): number {
    const name = this.#lookup(host, start, hash);
    if (name === NONE) return best;
    let entry = this.#names[name * STRIDE + FIRST] ?? NONE;
    while (entry !== NONE) {
      const at = entry * STRIDE;
      const rule = this.#entries[at + RULE] ?? best;
      if (rule >= best) return best;
      if (rule >= from && this.#covers(entry, host, start) && accept(rule)) return rule;
      entry = this.#entries[at + NEXT] ?? NONE;
    }
    return best;
  }

  #covers(entry: number, host: string, start: number): boolean {
    const scope = this.#entries[entry * STRIDE + WHICH] ?? 0;
    if (scope === SCOPE.pattern) return matchesLabels(host, this.#patterns.get(entry) ?? []);
    if (start === 0) return (scope & SCOPE.exact) !== 0;
    if ((scope & SCOPE.below) !== 0) return true;
    return (scope & SCOPE.oneLabel) !== 0 && host.indexOf('.') === start - 1;
  }

  #lookup(host: string, start: number, hash: number): number {
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const name = this.#slots[slot] ?? NONE;
      if (name === NONE || (this.#names[name * STRIDE + HASH] === hash && this.#isName(name, host, start))) return name;
    }
  }

  #isName(name: number, host: string, start: number): boolean {
    const begin = this.#names[name * STRIDE + BEGIN] ?? 0;
    const length = this.#names[name * STRIDE + LENGTH] ?? 0;
    if (length !== host.length - start) return false;
    for (let i = 0; i < length; i++) if (this.#pool[begin + i] !== host.charCodeAt(start + i)) return false;
    return true;
  }

  #findOpenEnded(host: string, from: number, to: number, accept: Accept): number {
    const found = this.#openEnded.find(
      ({ rule, labels = [] }) => rule >= to || (rule >= from && matchesLabels(host, labels) && accept(rule)),
    );
    return Math.min(found?.rule ?? to, to);
  }

  #add(entry: number, added: DomainEntry): void {
    const { domain, scope, rule, labels } = added;
    if (domain === '') return void this.#openEnded.push(added);
    const hash = hashDomain(domain, this.#seed);
    const known = this.#lookup(domain, 0, hash);
    if (labels) this.#patterns.set(entry, labels);
    this.#entries.set([rule, scope, NONE, entry], entry * STRIDE);
    if (known === NONE) {
      this.#addName(domain, hash, entry);
      return;
    }
    const first = this.#names[known * STRIDE + FIRST] ?? NONE;
    const last = this.#entries[first * STRIDE + LAST] ?? first;
    if (this.#merges(last, rule, scope)) return;
    this.#entries[last * STRIDE + NEXT] = entry;
    this.#entries[first * STRIDE + LAST] = entry;
  }

  /** A set that has a name twice has it once in the chain that every lookup of the name walks. */
  #merges(last: number, rule: number, scope: DomainScope): boolean {
    const at = last * STRIDE;
    const known = this.#entries[at + WHICH] ?? 0;
    if (this.#entries[at + RULE] !== rule || known === SCOPE.pattern || scope === SCOPE.pattern) return false;
    this.#entries[at + WHICH] = known | scope;
    return true;
  }

  #addName(domain: string, hash: number, entry: number): void {
    const name = this.#nameCount++;
    const begin = this.#poolLength;
    for (let i = 0; i < domain.length; i++) this.#pool[begin + i] = domain.charCodeAt(i);
    this.#poolLength += domain.length;
    this.#names.set([hash, begin, domain.length, entry], name * STRIDE);
    let slot = hash & this.#mask;
    while (this.#slots[slot] !== NONE) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = name;
  }
}

/** The hash of a whole name, as a lookup arrives at it: a signed 32-bit number. */
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
  return once ^ (once >>> 13);
}
