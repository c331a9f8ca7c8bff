/**
 * All DOMAIN-KEYWORD rules in one deterministic Aho-Corasick automaton: one table lookup for each character of the
 * host.
 */
import type { Accept } from './accept.js';

export interface KeywordEntry {
  /** Lower-case ASCII. */
  readonly keyword: string;
  readonly rule: number;
}

const NONE = -1;
const NO_RULE = 0xffffffff;
/** The bit beside the number of a state, in cells of two and of four bytes. */
const SMALL_MARK = 1 << 15;
const LARGE_MARK = 1 << 30;
/** The most cells of the transition table, with 4 bytes each. Keywords beyond that are left to the caller. */
const MAX_CELLS = 1 << 22;

export class KeywordAutomaton {
  /** Keywords that did not fit and have to be matched one by one. */
  readonly overflow: readonly KeywordEntry[];
  /** The column of each character code; characters outside all keywords share column 0. */
  readonly #column = new Uint8Array(128);
  readonly #columns: number;
  /** The next state by state and column, marked if it or a shorter one ends a keyword. */
  readonly #next: Uint16Array | Int32Array;
  /** The bits of a cell without the mark. */
  readonly #stateMask: number;
  /** The next state, by dropping characters from the left, that ends a keyword. */
  readonly #shorter: Int32Array;
  /** The smallest rule of a state and all its shorter ones. */
  readonly #smallest: Uint32Array;
  /** The rules of a state, ascending; most states have none. */
  readonly #rules: ReadonlyMap<number, readonly number[]>;

  /** @param entries in rule order. */
  constructor(entries: readonly KeywordEntry[]) {
    this.#columns = this.#assignColumns(entries);
    const trie = new Trie(this.#column, this.#columns, entries);
    this.overflow = trie.overflow;
    this.#rules = trie.rules;
    this.#shorter = new Int32Array(trie.states).fill(NONE);
    this.#smallest = new Uint32Array(trie.states).fill(NO_RULE);
    for (const [state, rules] of trie.rules) this.#smallest[state] = rules[0] ?? NO_RULE;
    this.#close(trie.next, trie.states);
    this.#stateMask = trie.states <= SMALL_MARK ? SMALL_MARK - 1 : LARGE_MARK - 1;
    this.#next = this.#marked(trie.next);
  }

  /** The smallest accepted rule in `[from, to)` whose keyword is in `host`; `to` if there is none. */
  find(host: string, from: number, to: number, accept: Accept): number {
    let best = to;
    let state = 0;
    for (let i = 0; i < host.length; i++) {
      const cell = this.#next[state * this.#columns + (this.#column[host.charCodeAt(i)] ?? 0)] ?? 0;
      state = cell & this.#stateMask;
      if (cell !== state && (this.#smallest[state] ?? best) < best) best = this.#bestOf(state, from, best, accept);
    }
    return best;
  }

  get bytes(): number {
    return this.#next.byteLength + this.#shorter.byteLength + this.#smallest.byteLength + this.#column.byteLength;
  }

  #bestOf(start: number, from: number, to: number, accept: Accept): number {
    let best = to;
    for (
      let state = start;
      state !== NONE && (this.#smallest[state] ?? best) < best;
      state = this.#shorter[state] ?? NONE
    ) {
      for (const rule of this.#rules.get(state) ?? []) {
        if (rule >= best) break;
        if (rule < from || !accept(rule)) continue;
        best = rule;
        break;
      }
    }
    return best;
  }

  #assignColumns(entries: readonly KeywordEntry[]): number {
    let columns = 1;
    for (const { keyword } of entries) {
      for (let i = 0; i < keyword.length; i++) {
        const code = keyword.charCodeAt(i);
        if (this.#column[code] === 0) this.#column[code] = columns++;
      }
    }
    return columns;
  }

  /** Breadth first: fills missing transitions from the state reached by dropping the first character. */
  #close(next: Int32Array, states: number): void {
    const fallback = new Int32Array(states);
    const queue = [0];
    for (let head = 0; head < queue.length; head++) {
      const state = queue[head] ?? 0;
      const shorter = fallback[state] ?? 0;
      if (state !== 0) this.#inherit(state, shorter);
      for (let column = 0; column < this.#columns; column++) {
        const cell = state * this.#columns + column;
        const beyond = state === 0 ? 0 : (next[shorter * this.#columns + column] ?? 0);
        const child = next[cell] ?? NONE;
        if (child === NONE) {
          next[cell] = beyond;
        } else {
          fallback[child] = beyond;
          queue.push(child);
        }
      }
    }
  }

  /** With the smallest cells that the number of states allows, so that more of the table stays in the cache. */
  #marked(next: Int32Array): Uint16Array | Int32Array {
    const mark = this.#stateMask + 1;
    const cells = mark === SMALL_MARK ? new Uint16Array(next.length) : new Int32Array(next.length);
    for (let i = 0; i < next.length; i++) {
      const state = next[i] ?? 0;
      cells[i] = this.#smallest[state] === NO_RULE ? state : state | mark;
    }
    return cells;
  }

  #inherit(state: number, shorter: number): void {
    this.#shorter[state] = this.#rules.has(shorter) ? shorter : (this.#shorter[shorter] ?? NONE);
    this.#smallest[state] = Math.min(this.#smallest[state] ?? NO_RULE, this.#smallest[shorter] ?? NO_RULE);
  }
}

class Trie {
  readonly overflow: KeywordEntry[] = [];
  readonly rules = new Map<number, number[]>();
  readonly next: Int32Array;
  states = 1;

  constructor(column: Uint8Array, columns: number, entries: readonly KeywordEntry[]) {
    const wanted = entries.reduce((sum, entry) => sum + entry.keyword.length, 1);
    const limit = Math.min(wanted, Math.floor(MAX_CELLS / columns));
    const cells = new Int32Array(limit * columns).fill(NONE);
    for (const entry of entries) {
      // Reserves room for all characters, shared or not: cheaper than counting first, and the limit need not be exact.
      if (this.states + entry.keyword.length > limit) this.overflow.push(entry);
      else this.#add(cells, column, columns, entry);
    }
    this.next = cells.slice(0, this.states * columns);
  }

  #add(cells: Int32Array, column: Uint8Array, columns: number, { keyword, rule }: KeywordEntry): void {
    let state = 0;
    for (let i = 0; i < keyword.length; i++) {
      const cell = state * columns + (column[keyword.charCodeAt(i)] ?? 0);
      if (cells[cell] === NONE) cells[cell] = this.states++;
      state = cells[cell] ?? 0;
    }
    const rules = this.rules.get(state);
    if (rules) rules.push(rule);
    else this.rules.set(state, [rule]);
  }
}
