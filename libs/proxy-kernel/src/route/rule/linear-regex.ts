/**
 * Regular expressions by Thompson's construction: all states at once, one pass, no backtracking. The time is at most
 * (length of the text) x (size of the program), the size of the program is bounded, and cached steps cost next to
 * nothing.
 */
import { type AutomatonStep, LazyAutomaton } from './lazy-automaton.js';
import { type Assertion, type CharSet, type RegexNode, parseRegex } from './regex-syntax.js';
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

const MAX_PROGRAM = 512;

/** @throws RuleError */
export function compileLinearRegex(pattern: string): LinearRegex {
  const program: Instruction[] = [];
  emit(program, parseRegex(pattern));
  push(program, { op: 'match' });
  return new LazyAutomaton(program.map(toStep));
}

function toStep(instruction: Instruction): AutomatonStep {
  switch (instruction.op) {
    case 'set': {
      const { set } = instruction;
      return { op: 'read', reads: (code) => set[code] === 1 };
    }
    case 'split':
      return { op: 'split', to: [instruction.second, instruction.first] };
    case 'jump':
      return { op: 'split', to: [instruction.to] };
    case 'assert':
    case 'match':
      return instruction;
  }
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
    // Repeating an empty group adds nothing; nested empty groups would otherwise loop without ever filling the program.
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
