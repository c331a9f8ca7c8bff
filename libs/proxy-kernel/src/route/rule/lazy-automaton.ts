import { isWordCode } from './regex-syntax.js';
import type { Assertion } from './regex-syntax.js';

/** One instruction of a pattern's program; after `read` and `assert` the next instruction follows. */
export type AutomatonStep =
  | { op: 'read'; reads: (code: number) => boolean }
  | { op: 'split'; to: readonly number[] }
  | { op: 'assert'; assertion: Assertion }
  | { op: 'match' };

/**
 * A budget for the work, so that texts that defeat the cache cannot keep a thread busy. The unit is one instruction.
 */
export interface AutomatonCredit {
  /** The initial and the largest credit. */
  pool: number;
  /** Added for each text. */
  perText: number;
}

/** The most cached instructions in states, plus 4 for each transition; beyond that the cache is cleared. */
const MAX_CACHED = 16_384;
const TRANSITION = 4;
/** Not a code point: the position after the last character. */
const END = -1;

type Before = 'nothing' | 'word' | 'other';

/** All instructions that the text so far may have led to, and what may come before the next character. */
interface State {
  readonly at: readonly number[];
  readonly before: Before;
  readonly next: Map<number, State | boolean>;
}

/**
 * Finds a program's pattern anywhere in a text. It follows all instructions at once without backtracking (Thompson),
 * and caches each step when it is first taken (a deterministic automaton, built on demand).
 */
export class LazyAutomaton {
  readonly #program: readonly AutomatonStep[];
  readonly #seen: Int32Array;
  readonly #credit: AutomatonCredit | null;
  readonly #states = new Map<string, State>();
  #left: number;
  #cached = 0;
  #round = 0;

  /**
   * Without `credit` every text is read to its end, which takes at most (length of the text) x (size of the program).
   */
  constructor(program: readonly AutomatonStep[], credit: AutomatonCredit | null = null) {
    this.#program = program;
    this.#seen = new Int32Array(program.length);
    this.#credit = credit;
    this.#left = credit?.pool ?? Infinity;
  }

  /** Also false for a text that would exceed the credit. */
  test(text: string): boolean {
    if (this.#credit) this.#left = Math.min(this.#credit.pool, this.#left + this.#credit.perText);
    let state = this.#state([0], 'nothing');
    for (let at = 0; ;) {
      const code = text.codePointAt(at) ?? END;
      let next = state.next.get(code);
      if (next === undefined) {
        if (this.#left <= 0) return false;
        next = this.#step(state, code);
        this.#cached += TRANSITION;
        state.next.set(code, next);
      }
      if (typeof next === 'boolean') return next;
      state = next;
      at += code > 0xffff ? 2 : 1;
    }
  }

  #state(at: number[], before: Before): State {
    const key = `${before}${at.join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    this.#cached += at.length + TRANSITION;
    if (this.#cached > MAX_CACHED) {
      this.#states.clear();
      this.#cached = at.length + TRANSITION;
    }
    const state: State = { at, before, next: new Map() };
    this.#states.set(key, state);
    return state;
  }

  #step({ at, before }: State, code: number): State | boolean {
    const round = this.#nextRound();
    const ready: number[] = [];
    const stack = at.toReversed();
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (this.#seen[index] === round) continue;
      this.#seen[index] = round;
      this.#left--;
      const step = this.#program[index];
      if (!step || step.op === 'match') return true;
      if (step.op === 'split') stack.push(...step.to);
      else if (step.op === 'assert') {
        if (holds(step.assertion, before, code)) stack.push(index + 1);
      } else if (code !== END && step.reads(code)) ready.push(index + 1);
    }
    if (code === END) return false;
    // A match may begin anywhere, so the start instruction is added at each position.
    ready.push(0);
    // Finding a state in the cache costs more than running its instructions.
    this.#left -= 3 * ready.length;
    return this.#state(
      [...new Set(ready)].sort((a, b) => a - b),
      isWordCode(code) ? 'word' : 'other',
    );
  }

  #nextRound(): number {
    if (this.#round === 0x7fffffff) {
      this.#seen.fill(0);
      this.#round = 0;
    }
    return ++this.#round;
  }
}

function holds(assertion: Assertion, before: Before, code: number): boolean {
  if (assertion === 'start') return before === 'nothing';
  if (assertion === 'end') return code === END;
  const isBoundary = (before === 'word') !== (code !== END && isWordCode(code));
  return isBoundary === (assertion === 'boundary');
}
