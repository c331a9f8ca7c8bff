/**
 * All DOMAIN and DOMAIN-SUFFIX rules, or the names of all rule sets, in one open-addressing hash over typed arrays. A
 * lookup rolls one hash over the host from its end and probes at every label boundary, so its cost depends on the
 * host's length and not on the number of rules.
 * The hash is seeded, and a hit counts only after comparing the stored text: colliding names can cost a few probes, but
 * never lead a flow to a wrong rule.
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
  /** For scope `pattern`: all labels, where `*` stands for any one. `domain` is the part after the last of these. */
  readonly labels?: readonly string[];
}

const DOT = 46;
const NONE = -1;
/** The words of an entry: its scope and the length of the name after it, its rule, the next entry of the same name. */
const HEADER = 3;
const RULE = 1;
const NEXT = 2;
/** The bits of the length; the scope is above them. */
const LENGTH_BITS = 8;
const LENGTH_MASK = 0xff;

export class DomainTable {
  readonly #seed: number;
  readonly #mask: number;
  /** The hash and the first entry of a name, side by side; NONE for no entry. */
  readonly #slots: Int32Array;
  /**
   * Entries, in rule order for each name, with the name directly after its first entry. A lookup pays for each cache
   * line it touches: one for the slot, one for the rest.
   */
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  /** By entry. */
  readonly #patterns = new Map<number, readonly string[]>();
  /** Patterns that end in `*`, which cannot be looked up. In rule order. */
  readonly #openEnded: DomainEntry[] = [];

  /** @param entries in rule order. */
  constructor(entries: readonly DomainEntry[], seed: number = randomBytes(4).readUInt32LE()) {
    const slots = 1 << Math.ceil(Math.log2(Math.max(8, entries.length * 2)));
    this.#seed = seed;
    this.#mask = slots - 1;
    this.#slots = new Int32Array(slots * 2).fill(NONE);
    const building = new EntryWriter(entries);
    this.#words = building.words;
    this.#bytes = building.bytes;
    for (const entry of entries) this.#add(building, entry);
    this.#words = building.finish();
    this.#bytes = new Uint8Array(this.#words.buffer);
  }

  /** The smallest accepted rule in `[from, to)` for `host` or a name above it; `to` if there is none. */
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
    return this.#slots.byteLength + this.#words.byteLength;
  }

  // The hot function of the router: six numbers are cheaper than an object for each probe. oxlint-disable-next-line
  // max-params
  #probe(host: string, start: number, hash: number, from: number, best: number, accept: Accept): number {
    let entry = this.#slots[this.#slotOf(host, start, hash) + 1] ?? NONE;
    while (entry !== NONE) {
      const rule = this.#words[entry + RULE] ?? best;
      if (rule >= best) return best;
      if (rule >= from && this.#covers(entry, host, start) && accept(rule)) return rule;
      entry = this.#words[entry + NEXT] ?? NONE;
    }
    return best;
  }

  #covers(entry: number, host: string, start: number): boolean {
    const scope = (this.#words[entry] ?? 0) >> LENGTH_BITS;
    if (scope === SCOPE.pattern) return matchesLabels(host, this.#patterns.get(entry) ?? []);
    if (start === 0) return (scope & SCOPE.exact) !== 0;
    if ((scope & SCOPE.below) !== 0) return true;
    return (scope & SCOPE.oneLabel) !== 0 && host.indexOf('.') === start - 1;
  }

  /** The slot of the name, or the empty one where it would be. */
  #slotOf(host: string, start: number, hash: number): number {
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const entry = this.#slots[slot * 2 + 1] ?? NONE;
      if (entry === NONE || (this.#slots[slot * 2] === hash && this.#isName(entry, host, start))) return slot * 2;
    }
  }

  #isName(entry: number, host: string, start: number): boolean {
    const length = (this.#words[entry] ?? 0) & LENGTH_MASK;
    if (length !== host.length - start) return false;
    const begin = (entry + HEADER) * 4;
    for (let i = 0; i < length; i++) if (this.#bytes[begin + i] !== host.charCodeAt(start + i)) return false;
    return true;
  }

  #findOpenEnded(host: string, from: number, to: number, accept: Accept): number {
    const found = this.#openEnded.find(
      ({ rule, labels = [] }) => rule >= to || (rule >= from && matchesLabels(host, labels) && accept(rule)),
    );
    return Math.min(found?.rule ?? to, to);
  }

  #add(building: EntryWriter, added: DomainEntry): void {
    const { domain, labels } = added;
    if (domain === '') return void this.#openEnded.push(added);
    const hash = hashDomain(domain, this.#seed);
    const slot = this.#slotOf(domain, 0, hash);
    const first = this.#slots[slot + 1] ?? NONE;
    const entry = first === NONE ? building.first(added) : building.further(first, added);
    if (labels) this.#patterns.set(entry, labels);
    if (first !== NONE) return;
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = entry;
  }
}

/** Writes entries one after the other. */
class EntryWriter {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  /** The last entry of a name by its first, if there are several. */
  readonly #lasts = new Map<number, number>();
  #end = 0;

  constructor(entries: readonly DomainEntry[]) {
    const size = entries.reduce((sum, { domain }) => sum + HEADER + ((domain.length + 3) >> 2), 0);
    this.words = new Int32Array(size);
    this.bytes = new Uint8Array(this.words.buffer);
  }

  /** Writes the first entry of a name, with the name after it. */
  first({ domain, scope, rule }: DomainEntry): number {
    const entry = this.#write(scope, rule, domain.length);
    const begin = this.#end * 4;
    for (let i = 0; i < domain.length; i++) this.bytes[begin + i] = domain.charCodeAt(i);
    this.#end += (domain.length + 3) >> 2;
    return entry;
  }

  /** Adds another entry to the name that `first` begins; returns the last one if it already covers it. */
  further(first: number, { scope, rule }: DomainEntry): number {
    const last = this.#lasts.get(first) ?? first;
    if (this.#merges(last, rule, scope)) return last;
    const entry = this.#write(scope, rule, 0);
    this.words[last + NEXT] = entry;
    this.#lasts.set(first, entry);
    return entry;
  }

  /** The written words, without the reserve for repeated names. */
  finish(): Int32Array<ArrayBuffer> {
    return this.words.slice(0, this.#end);
  }

  #write(scope: DomainScope, rule: number, length: number): number {
    const entry = this.#end;
    this.words[entry] = (scope << LENGTH_BITS) | length;
    this.words[entry + RULE] = rule;
    this.words[entry + NEXT] = NONE;
    this.#end += HEADER;
    return entry;
  }

  /** A name that a set contains twice is stored once in the chain that every lookup of the name walks. */
  #merges(last: number, rule: number, scope: DomainScope): boolean {
    const known = (this.words[last] ?? 0) >> LENGTH_BITS;
    if (this.words[last + RULE] !== rule || known === SCOPE.pattern || scope === SCOPE.pattern) return false;
    this.words[last] = (this.words[last] ?? 0) | (scope << LENGTH_BITS);
    return true;
  }
}

/** The hash of a whole name, as computed by a lookup: a signed 32-bit number. */
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
