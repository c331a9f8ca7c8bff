/**
 * Regular expressions over names, run as Thompson's automaton: time is at most (length of the name) x (size of the
 * pattern). Patterns come from people, names from providers, and together they must not be able to stop the service.
 */

export interface NamePattern {
  /** True if the pattern occurs anywhere in `name`, case ignored. */
  test(name: string): boolean;
}

/** A pattern that cannot be used, and why. */
export class NamePatternError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'NamePatternError';
  }
}

type Test = (char: string) => boolean;
type Assertion = '^' | '$' | '\\b' | '\\B';
type Node =
  | { kind: 'char'; test: Test }
  | { kind: 'assert'; assertion: Assertion }
  | { kind: 'sequence'; items: Node[] }
  | { kind: 'choice'; options: Node[] }
  | { kind: 'repeat'; item: Node; min: number; max: number };

type Instruction =
  { op: 'char'; test: Test } | { op: 'assert'; assertion: Assertion } | { op: 'split'; to: number[] } | { op: 'match' };

const MAX_PATTERN = 512;
const MAX_DEPTH = 32;
const MAX_REPEAT = 100;
const MAX_PROGRAM = 2_000;
/** Names are shown on one line; more of one is not looked at. */
const MAX_NAME = 300;
/** `(?i)` at the start, as Clash filters carry it: case is ignored anyway. */
const LEADING_FLAGS = /^\(\?[im]+\)/;
const PLAIN_WORDS = /^[^\\^$.*+?()[\]{}|]+(\|[^\\^$.*+?()[\]{}|]+)*$/;
const ATOM =
  /\\u\{[0-9a-f]{1,6}\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[pP]\{[^}]{1,60}\}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/iuy;

/** @throws NamePatternError for bad syntax and for what needs backtracking: look-around and back references. */
export function compileNamePattern(pattern: string): NamePattern {
  if (pattern.length > MAX_PATTERN) throw new NamePatternError(`is longer than ${MAX_PATTERN} characters`);
  if (PLAIN_WORDS.test(pattern)) return wordsPattern(pattern.toLowerCase().split('|'));
  const program: Instruction[] = [];
  emit(program, new PatternReader(pattern.replace(LEADING_FLAGS, '')).read());
  push(program, { op: 'match' });
  return { test: (name) => run(program, Array.from(name.slice(0, MAX_NAME))) };
}

/** What most filters are. */
function wordsPattern(words: readonly string[]): NamePattern {
  return {
    test(name) {
      const lower = name.slice(0, MAX_NAME).toLowerCase();
      return words.some((word) => lower.includes(word));
    },
  };
}

class PatternReader {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
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
    for (const assertion of ['^', '$', '\\b', '\\B'] as const) {
      if (this.#take(assertion)) return { kind: 'assert', assertion };
    }
    ATOM.lastIndex = this.#at;
    const [atom = ''] = ATOM.exec(this.#pattern) ?? [];
    if (/^[*+?]/.test(atom)) throw new NamePatternError('has a quantifier on nothing');
    if (/^\\[1-9k]/.test(atom)) throw new NamePatternError('has a back reference, which is not supported');
    this.#at += atom.length;
    return { kind: 'char', test: charTest(atom) };
  }

  #group(): Node {
    if (++this.#depth > MAX_DEPTH) throw new NamePatternError(`has more than ${MAX_DEPTH} groups in each other`);
    if (!this.#take('?:') && this.#pattern.startsWith('?', this.#at)) {
      throw new NamePatternError('has a look-around or another special group, which is not supported');
    }
    const node = this.#choice();
    if (!this.#take(')')) throw new NamePatternError('has a ( that is not closed');
    this.#depth--;
    return node;
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

/** One character at a time, so the engine of the runtime has nothing to backtrack over. */
function charTest(atom: string): Test {
  try {
    const one = new RegExp(
      `^(?:${/^[\])}{-]$/.test(atom) ? `\\u{${atom.charCodeAt(0).toString(16)}}` : unescape(atom)})$`,
      'iu',
    );
    return (char) => one.test(char);
  } catch (cause) {
    throw new NamePatternError(`has ${JSON.stringify(atom)}, which cannot be read`, { cause });
  }
}

/** With the `u` flag an escape that is none is an error; Clash patterns have them (`\-`, `\ `). */
function unescape(atom: string): string {
  const plain = /^\\([^\p{L}\p{N}])$/u.exec(atom)?.[1];
  return plain === undefined ? atom : `\\u{${plain.codePointAt(0)!.toString(16)}}`;
}

function push(program: Instruction[], instruction: Instruction): number {
  if (program.length >= MAX_PROGRAM) throw new NamePatternError('is too large once its repetitions are written out');
  return program.push(instruction) - 1;
}

function emit(program: Instruction[], node: Node): void {
  if (node.kind === 'char') push(program, { op: 'char', test: node.test });
  else if (node.kind === 'assert') push(program, { op: 'assert', assertion: node.assertion });
  else if (node.kind === 'sequence') for (const item of node.items) emit(program, item);
  else if (node.kind === 'choice') emitChoice(program, node.options);
  else emitRepeat(program, node);
}

function emitChoice(program: Instruction[], options: readonly Node[]): void {
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

function emitRepeat(program: Instruction[], { item, min, max }: Extract<Node, { kind: 'repeat' }>): void {
  for (let i = 0; i < min; i++) {
    const before = program.length;
    emit(program, item);
    // Nothing repeated is nothing; nested empty groups would else be repeated without ever filling the program.
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

function run(program: readonly Instruction[], text: readonly string[]): boolean {
  const seen = new Int32Array(program.length).fill(-1);
  let current: number[] = [];
  for (let at = 0; ; at++) {
    // A match may begin anywhere, so the start joins the running states at each position.
    if (follow(program, [0], text, at, seen, current)) return true;
    const char = text[at];
    if (char === undefined) return false;
    const ready: number[] = [];
    for (const state of current) {
      const instruction = program[state];
      if (instruction?.op === 'char' && instruction.test(char)) ready.push(state + 1);
    }
    current = [];
    if (follow(program, ready, text, at + 1, seen, current)) return true;
  }
}

/** Adds every character test reachable without a character; true when the end of the pattern is among them. */
// oxlint-disable-next-line eslint/max-params -- the state of one step, passed instead of allocated
function follow(
  program: readonly Instruction[],
  stack: number[],
  text: readonly string[],
  at: number,
  seen: Int32Array,
  into: number[],
): boolean {
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    if (seen[state] === at) continue;
    seen[state] = at;
    const instruction = program[state];
    if (!instruction || instruction.op === 'match') return true;
    if (instruction.op === 'char') into.push(state);
    else if (instruction.op === 'split') stack.push(...instruction.to);
    else if (holds(instruction.assertion, text, at)) stack.push(state + 1);
  }
  return false;
}

function holds(assertion: Assertion, text: readonly string[], at: number): boolean {
  if (assertion === '^') return at === 0;
  if (assertion === '$') return at === text.length;
  const isBoundary = isWord(text[at - 1]) !== isWord(text[at]);
  return isBoundary === (assertion === '\\b');
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^\w$/.test(char);
}
