/**
 * Regular expressions over names, run as an automaton that caches its steps and has a budget: patterns come from users
 * and names from providers, and together they must not be able to stop the service.
 */
import { LazyAutomaton } from '@gatehouse/proxy-kernel';
import type { AutomatonStep } from '@gatehouse/proxy-kernel';

export interface NamePattern {
  /**
   * Whether the pattern occurs anywhere in `name`, ignoring case; false if that would take too many steps to find out.
   */
  test(name: string): boolean;
}

/** A pattern that cannot be used, with the reason. */
export class NamePatternError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'NamePatternError';
  }
}

type Test = (code: number) => boolean;
type Assertion = Extract<AutomatonStep, { op: 'assert' }>['assertion'];
type Node =
  | { kind: 'char'; test: Test }
  | { kind: 'assert'; assertion: Assertion }
  | { kind: 'sequence'; items: Node[] }
  | { kind: 'choice'; options: Node[] }
  | { kind: 'group'; number: number; item: Node }
  | { kind: 'repeat'; item: Node; min: number; max: number };

/** Filters of profiles list the names of many cities; those that people write here are shorter (`outbound.dto.ts`). */
const MAX_PATTERN = 2_048;
const MAX_DEPTH = 32;
const MAX_REPEAT = 100;
const MAX_PROGRAM = 500;
/**
 * The first value suffices for one long name with the largest pattern, the second for patterns that need only a few
 * states.
 */
const CREDIT = { pool: 150_000, perText: 2_000 };
/** Characters cached for one place of a pattern. */
const MAX_KNOWN = 256;
const ASSERTIONS: readonly (readonly [string, Assertion])[] = [
  ['^', 'start'],
  ['$', 'end'],
  ['\\b', 'boundary'],
  ['\\B', 'not-boundary'],
];
/** Names are shown on one line; the rest of a longer one is ignored. */
const MAX_NAME = 300;
/** `(?i)` at the start, as in Clash filters; case is ignored anyway. */
const LEADING_FLAGS = /^\(\?[im]+\)/;
const PLAIN_WORDS = /^[^\\^$.*+?()[\]{}|]+(\|[^\\^$.*+?()[\]{}|]+)*$/;
const ATOM =
  /\\u\{[0-9a-f]{1,6}\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[pP]\{[^}]{1,60}\}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/iuy;

/**
 * @param ignoreCase false for patterns of programs that distinguish it: `US` is not in `Russia`.
 * @throws NamePatternError for bad syntax, and for look-around and back references, which need backtracking.
 */
export function compileNamePattern(pattern: string, ignoreCase = true): NamePattern {
  if (pattern.length > MAX_PATTERN) throw new NamePatternError(`is longer than ${MAX_PATTERN} characters`);
  // A group around everything only groups.
  const bare = /^\(([^()]*)\)$/.exec(pattern)?.[1] ?? pattern;
  if (PLAIN_WORDS.test(bare)) return wordsPattern(bare.split('|'), ignoreCase);
  const automaton = new LazyAutomaton(compileNameProgram(pattern, ignoreCase), CREDIT);
  return { test: (name) => automaton.test(name.slice(0, MAX_NAME)) };
}

/**
 * The instructions of a pattern, as an automaton takes them.
 * @param marks gets the instructions at which groups begin (twice the number of the group) and end (one more).
 * @throws NamePatternError
 */
export function compileNameProgram(pattern: string, ignoreCase = true, marks?: Map<number, number>): AutomatonStep[] {
  if (pattern.length > MAX_PATTERN) throw new NamePatternError(`is longer than ${MAX_PATTERN} characters`);
  const program: Program = marks ? Object.assign([], { marks }) : [];
  emit(program, new PatternReader(pattern.replace(LEADING_FLAGS, ''), ignoreCase).read());
  push(program, { op: 'match' });
  return program;
}

type Program = AutomatonStep[] & { marks?: Map<number, number> };

/** A fast path for alternatives of plain words, which most filters are. */
function wordsPattern(words: readonly string[], ignoreCase: boolean): NamePattern {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const folded = words.map(fold);
  return {
    test(name) {
      const text = fold(name.slice(0, MAX_NAME));
      return folded.some((word) => text.includes(word));
    },
  };
}

class PatternReader {
  readonly #pattern: string;
  readonly #flags: string;
  #at = 0;
  #depth = 0;
  #groups = 0;

  constructor(pattern: string, ignoreCase: boolean) {
    this.#pattern = pattern;
    this.#flags = ignoreCase ? 'iu' : 'u';
  }

  read(): Node {
    const node = this.#choice();
    if (this.#at < this.#pattern.length) throw new NamePatternError('has a ) that closes nothing');
    return node;
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #choice(): Node {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return { kind: 'choice', options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#at < this.#pattern.length && !/[|)]/.test(this.#pattern.charAt(this.#at)))
      items.push(this.#repeated());
    return { kind: 'sequence', items };
  }

  #repeated(): Node {
    const item = this.#single();
    const quantifier = /[*+?]|\{(\d{1,6})(?:(,)(\d{0,6}))?\}/y;
    quantifier.lastIndex = this.#at;
    const found = quantifier.exec(this.#pattern);
    if (!found) return item;
    if (item.kind === 'assert') throw new NamePatternError('has a quantifier on an assertion');
    this.#at += found[0].length;
    // Lazy or greedy makes no difference to whether there is a match.
    this.#take('?');
    return { kind: 'repeat', item, ...boundsOf(found) };
  }

  #single(): Node {
    if (this.#take('(')) return this.#group();
    for (const [text, assertion] of ASSERTIONS) {
      if (this.#take(text)) return { kind: 'assert', assertion };
    }
    ATOM.lastIndex = this.#at;
    const [atom = ''] = ATOM.exec(this.#pattern) ?? [];
    if (/^[*+?]/.test(atom)) throw new NamePatternError('has a quantifier on nothing');
    if (/^\\[1-9k]/.test(atom)) throw new NamePatternError('has a back reference, which is not supported');
    this.#at += atom.length;
    return { kind: 'char', test: charTest(atom, this.#flags) };
  }

  #group(): Node {
    if (++this.#depth > MAX_DEPTH) throw new NamePatternError(`has more than ${MAX_DEPTH} groups in each other`);
    const captures = !this.#take('?:');
    if (captures && this.#pattern.startsWith('?', this.#at)) {
      throw new NamePatternError('has a look-around or another special group, which is not supported');
    }
    const number = captures ? ++this.#groups : 0;
    const item = this.#choice();
    if (!this.#take(')')) throw new NamePatternError('has a ( that is not closed');
    this.#depth--;
    return captures ? { kind: 'group', number, item } : item;
  }
}

function boundsOf([sign, low, comma, high]: RegExpExecArray): { min: number; max: number } {
  if (low === undefined) return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
  const min = Number(low);
  const max = comma === undefined ? min : high ? Number(high) : Infinity;
  if (min > max) throw new NamePatternError('has a repetition that runs backwards');
  if (min > MAX_REPEAT || (max > MAX_REPEAT && max !== Infinity)) {
    throw new NamePatternError(`has more than ${MAX_REPEAT} repetitions`);
  }
  return { min, max };
}

/** One character at a time, so that the runtime's engine has nothing to backtrack over. */
function charTest(atom: string, flags: string): Test {
  try {
    const one = new RegExp(
      `^(?:${/^[\])}{-]$/.test(atom) ? `\\u{${atom.charCodeAt(0).toString(16)}}` : unescape(atom)})$`,
      flags,
    );
    const known = new Map<number, boolean>();
    return (code) => {
      let reads = known.get(code);
      if (reads !== undefined) return reads;
      reads = one.test(String.fromCodePoint(code));
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(code, reads);
      return reads;
    };
  } catch (cause) {
    throw new NamePatternError(`has ${JSON.stringify(atom)}, which cannot be read`, { cause });
  }
}

/** With the `u` flag an unnecessary escape is an error, but Clash patterns contain them (`\-`, `\ `). */
function unescape(atom: string): string {
  const plain = /^\\([^\p{L}\p{N}])$/u.exec(atom)?.[1];
  return plain === undefined ? atom : `\\u{${plain.codePointAt(0)!.toString(16)}}`;
}

function push(program: AutomatonStep[], step: AutomatonStep): number {
  if (program.length >= MAX_PROGRAM)
    throw new NamePatternError(`has more than ${MAX_PROGRAM} steps once its repetitions are written out: is too large`);
  return program.push(step) - 1;
}

function emit(program: Program, node: Node): void {
  if (node.kind === 'char') push(program, { op: 'read', reads: node.test });
  else if (node.kind === 'assert') push(program, { op: 'assert', assertion: node.assertion });
  else if (node.kind === 'sequence') for (const item of node.items) emit(program, item);
  else if (node.kind === 'choice') emitChoice(program, node.options);
  else if (node.kind === 'group') emitGroup(program, node);
  else emitRepeat(program, node);
}

function emitGroup(program: Program, { number, item }: Extract<Node, { kind: 'group' }>): void {
  mark(program, 2 * number);
  emit(program, item);
  mark(program, 2 * number + 1);
}

function mark(program: Program, slot: number): void {
  if (program.marks) program.marks.set(push(program, { op: 'split', to: [program.length + 1] }), slot);
}

function emitChoice(program: Program, options: readonly Node[]): void {
  const exits: number[][] = [];
  for (const [index, option] of options.entries()) {
    const isLast = index === options.length - 1;
    const branch = isLast ? null : [program.length + 1];
    if (branch) push(program, { op: 'split', to: branch });
    emit(program, option);
    if (!branch) break;
    const exit: number[] = [];
    push(program, { op: 'split', to: exit });
    exits.push(exit);
    branch.push(program.length);
  }
  for (const exit of exits) exit.push(program.length);
}

function emitRepeat(program: Program, { item, min, max }: Extract<Node, { kind: 'repeat' }>): void {
  for (let i = 0; i < min; i++) {
    const before = program.length;
    emit(program, item);
    // Repeating an empty group adds nothing; nested empty groups would otherwise loop without ever filling the program.
    if (program.length === before) return;
  }
  if (max === Infinity) {
    const branch = [program.length + 1];
    const start = push(program, { op: 'split', to: branch });
    emit(program, item);
    push(program, { op: 'split', to: [start] });
    branch.push(program.length);
    return;
  }
  const exits: number[][] = [];
  for (let i = min; i < max; i++) {
    const branch = [program.length + 1];
    push(program, { op: 'split', to: branch });
    exits.push(branch);
    emit(program, item);
  }
  for (const branch of exits) branch.push(program.length);
}
