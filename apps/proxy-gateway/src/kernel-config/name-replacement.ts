import type { AutomatonStep } from '@gatehouse/proxy-kernel';
import { compileNamePattern, compileNameProgram, NamePatternError } from './name-pattern.js';

/** Instructions that names may take: at first, and more with each name. Only hostile patterns come near. */
const WORK = { pool: 150_000, perName: 2_000 };
const MAX_NAME = 300;

interface Compiled {
  program: readonly AutomatonStep[];
  /** Instructions at which groups begin and end. */
  marks: ReadonlyMap<number, number>;
  /** Texts, and numbers of groups. */
  replacement: readonly (string | number)[];
}

/** A path through the program, with the places where groups began and ended. */
interface Thread {
  step: number;
  places: readonly number[];
}

/**
 * Replaces every occurrence of a pattern in names: the leftmost first, as long as possible, ignoring case. Like the
 * patterns of filters it follows all paths at once and has a budget; a name that would exceed that stays as it is.
 * @param replacement text, in which `$1` to `$9` are what the groups of the pattern matched, and `$$` is `$`.
 * @throws NamePatternError
 */
export function compileNameReplacement(pattern: string, replacement: string): (name: string) => string {
  const occurs = compileNamePattern(pattern);
  const marks = new Map<number, number>();
  const program = compileNameProgram(pattern, true, marks);
  const compiled = { program, marks, replacement: readReplacement(replacement, new Set(marks.values())) };
  const work = { left: WORK.pool };
  return (name) => {
    work.left = Math.min(WORK.pool, work.left + WORK.perName);
    return name.length <= MAX_NAME && occurs.test(name) ? replaceAll(compiled, name, work) : name;
  };
}

/** @param slots the marks of the pattern's groups. @throws NamePatternError */
function readReplacement(text: string, slots: ReadonlySet<number>): (string | number)[] {
  return text.split(/(\$[1-9$])/).map((part, index) => {
    if (index % 2 === 0) return part;
    if (part === '$$') return '$';
    const group = Number(part[1]);
    if (!slots.has(2 * group)) throw new NamePatternError(`has no group ${group}, which the replacement names`);
    return group;
  });
}

function replaceAll(compiled: Compiled, name: string, work: { left: number }): string {
  const text = Array.from(name);
  let result = '';
  for (let at = 0; at < text.length;) {
    const found = longestMatch(compiled, text, at, work);
    if (work.left <= 0) return name;
    if (found && found.end > at) result += replaced(compiled, text, found.places);
    else result += text[at] ?? '';
    at = Math.max(found?.end ?? 0, at + 1);
  }
  return result;
}

function replaced({ replacement }: Compiled, text: readonly string[], places: readonly number[]): string {
  return replacement
    .map((part) => (typeof part === 'string' ? part : text.slice(places[2 * part], places[2 * part + 1] ?? 0).join('')))
    .join('');
}

/** The longest match that starts at `start`; of several paths to its end the first one that the pattern names. */
function longestMatch(
  compiled: Compiled,
  text: readonly string[],
  start: number,
  work: { left: number },
): { end: number; places: readonly number[] } | null {
  let found: { end: number; places: readonly number[] } | null = null;
  let threads: Thread[] = [{ step: 0, places: [] }];
  for (let at = start; threads.length > 0 && work.left > 0; at += 1) {
    const reached = follow(compiled, threads, text, at, work);
    if (reached.matched) found = { end: at, places: reached.matched };
    const code = text[at]?.codePointAt(0);
    if (code === undefined) break;
    threads = reached.reading
      .filter(({ step }) => reads(compiled.program[step], code))
      .map(({ step, places }) => ({ step: step + 1, places }));
  }
  return found;
}

function reads(step: AutomatonStep | undefined, code: number): boolean {
  return step?.op === 'read' && step.reads(code);
}

/** The threads that wait for the next character, from these, in the pattern's order of preference. */
function follow(
  { program, marks }: Compiled,
  from: readonly Thread[],
  text: readonly string[],
  at: number,
  work: { left: number },
): { reading: Thread[]; matched: readonly number[] | null } {
  const seen = new Set<number>();
  const reading: Thread[] = [];
  const open = from.toReversed();
  let matched: readonly number[] | null = null;
  for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
    const { step: index } = thread;
    const step = program[index];
    if (step === undefined || seen.has(index)) continue;
    seen.add(index);
    work.left -= 1;
    const slot = marks.get(index);
    const places = slot === undefined ? thread.places : withPlace(thread.places, slot, at);
    if (step.op === 'match') matched ??= places;
    else if (step.op === 'read') reading.push({ step: index, places });
    else if (step.op === 'split') for (const to of step.to.toReversed()) open.push({ step: to, places });
    else if (holds(step.assertion, text, at)) open.push({ step: index + 1, places });
  }
  return { reading, matched };
}

function withPlace(places: readonly number[], slot: number, at: number): readonly number[] {
  const changed = [...places];
  changed[slot] = at;
  return changed;
}

function holds(
  assertion: Extract<AutomatonStep, { op: 'assert' }>['assertion'],
  text: readonly string[],
  at: number,
): boolean {
  if (assertion === 'start') return at === 0;
  if (assertion === 'end') return at === text.length;
  const isBoundary = isWord(text[at - 1]) !== isWord(text[at]);
  return assertion === 'boundary' ? isBoundary : !isBoundary;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^\w$/.test(character);
}
