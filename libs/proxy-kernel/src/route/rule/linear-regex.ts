/**
 * Regular expressions by Thompson's construction: all states at once, one pass, no backtracking. Time is at most
 * (length of the text) x (size of the program), and the program has a size.
 */
import { type Assertion, type CharSet, type RegexNode, isWordCode, parseRegex } from './regex-syntax.js';
import { RuleError } from './rule-error.js';

export interface LinearRegex {
  /** True if the pattern occurs anywhere in `text`. */
  test(text: string): boolean;
}

type Instruction =
  | { op: 'set'; set: CharSet }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'assert'; assertion: Assertion }
  | { op: 'match' };

const MAX_PROGRAM = 1024;

/** @throws RuleError */
export function compileLinearRegex(pattern: string): LinearRegex {
  const program: Instruction[] = [];
  emit(program, parseRegex(pattern));
  push(program, { op: 'match' });
  return new Automaton(program);
}

function push(program: Instruction[], instruction: Instruction): number {
  if (program.length >= MAX_PROGRAM)
    throw new RuleError('payload', 'the regular expression is too large once its repetitions are written out');
  return program.push(instruction) - 1;
}

function emit(program: Instruction[], node: RegexNode): void {
  if (node.kind === 'set') push(program, { op: 'set', set: node.set });
  else if (node.kind === 'assert') push(program, { op: 'assert', assertion: node.assertion });
  else if (node.kind === 'sequence') for (const item of node.items) emit(program, item);
  else if (node.kind === 'choice') emitChoice(program, node.options);
  else emitRepeat(program, node.item, node.min, node.max);
}

function emitChoice(program: Instruction[], options: readonly RegexNode[]): void {
  const exits: { op: 'jump'; to: number }[] = [];
  for (const [i, option] of options.entries()) {
    if (i === options.length - 1) {
      emit(program, option);
      break;
    }
    const split = { op: 'split' as const, first: program.length + 1, second: 0 };
    push(program, split);
    emit(program, option);
    const exit = { op: 'jump' as const, to: 0 };
    push(program, exit);
    exits.push(exit);
    split.second = program.length;
  }
  for (const exit of exits) exit.to = program.length;
}

function emitRepeat(program: Instruction[], item: RegexNode, min: number, max: number): void {
  for (let i = 0; i < min; i++) {
    const before = program.length;
    emit(program, item);
    // Nothing repeated is nothing; without this, nested empty groups would be repeated without ever filling the program.
    if (program.length === before) return;
  }
  if (max === Infinity) {
    const split = { op: 'split' as const, first: program.length + 1, second: 0 };
    const start = push(program, split);
    emit(program, item);
    push(program, { op: 'jump', to: start });
    split.second = program.length;
    return;
  }
  const exits: { op: 'split'; first: number; second: number }[] = [];
  for (let i = min; i < max; i++) {
    const split = { op: 'split' as const, first: program.length + 1, second: 0 };
    push(program, split);
    exits.push(split);
    emit(program, item);
  }
  for (const exit of exits) exit.second = program.length;
}

class Automaton implements LinearRegex {
  readonly #program: readonly Instruction[];
  /** Step at which an instruction was last reached, so that none is followed twice in one step. */
  readonly #seen: Int32Array;
  readonly #stack: number[] = [];
  #step = 0;

  constructor(program: readonly Instruction[]) {
    this.#program = program;
    this.#seen = new Int32Array(program.length).fill(-1);
  }

  test(text: string): boolean {
    this.#seen.fill(-1);
    this.#step = 0;
    let current: number[] = [];
    for (let at = 0; ; at++) {
      // A match may begin anywhere, so the start joins the running states at each position.
      if (this.#follow(0, text, at, current)) return true;
      if (at === text.length) return false;
      const next: number[] = [];
      this.#step++;
      const code = text.charCodeAt(at);
      for (const state of current) {
        const instruction = this.#program[state];
        if (instruction?.op !== 'set' || instruction.set[code] !== 1) continue;
        if (this.#follow(state + 1, text, at + 1, next)) return true;
      }
      current = next;
    }
  }

  /** Adds every consuming instruction reachable without consuming; true when the end of the pattern is among them. */
  #follow(start: number, text: string, at: number, into: number[]): boolean {
    const stack = this.#stack;
    stack.length = 0;
    stack.push(start);
    for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
      if (this.#seen[state] === this.#step) continue;
      this.#seen[state] = this.#step;
      const instruction = this.#program[state];
      if (!instruction || instruction.op === 'match') return true;
      if (instruction.op === 'set') into.push(state);
      else if (instruction.op === 'jump') stack.push(instruction.to);
      else if (instruction.op === 'split') stack.push(instruction.second, instruction.first);
      else if (holds(instruction.assertion, text, at)) stack.push(state + 1);
    }
    return false;
  }
}

function holds(assertion: Assertion, text: string, at: number): boolean {
  if (assertion === 'start') return at === 0;
  if (assertion === 'end') return at === text.length;
  const before = at > 0 && isWordCode(text.charCodeAt(at - 1));
  const after = at < text.length && isWordCode(text.charCodeAt(at));
  return (before !== after) === (assertion === 'boundary');
}
