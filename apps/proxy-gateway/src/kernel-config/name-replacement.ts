import type { AutomatonStep } from '@gatehouse/proxy-kernel';
import { compileNamePattern, compileNameProgram } from './name-pattern.js';

/** Instructions that names may take: at first, and more with each name. Only hostile patterns come near. */
const WORK = { pool: 150_000, perName: 2_000 };
const MAX_NAME = 300;

/**
 * Replaces every occurrence of a pattern in names: the leftmost first, as long as possible, ignoring case. Like the
 * patterns of filters it follows all paths at once and has a budget; a name that would exceed that stays as it is.
 * @param replacement plain text.
 * @throws NamePatternError
 */
export function compileNameReplacement(pattern: string, replacement: string): (name: string) => string {
  const occurs = compileNamePattern(pattern);
  const program = compileNameProgram(pattern);
  const work = { left: WORK.pool };
  return (name) => {
    work.left = Math.min(WORK.pool, work.left + WORK.perName);
    return name.length <= MAX_NAME && occurs.test(name) ? replaceAll(program, name, replacement, work) : name;
  };
}

function replaceAll(
  program: readonly AutomatonStep[],
  name: string,
  replacement: string,
  work: { left: number },
): string {
  const text = Array.from(name);
  let result = '';
  for (let at = 0; at < text.length;) {
    const end = matchEnd(program, text, at, work);
    if (work.left <= 0) return name;
    if (end > at) result += replacement;
    else result += text[at] ?? '';
    at = Math.max(end, at + 1);
  }
  return result;
}

/** Where the longest match that starts at `start` ends; -1 if none does. */
function matchEnd(
  program: readonly AutomatonStep[],
  text: readonly string[],
  start: number,
  work: { left: number },
): number {
  let end = -1;
  let threads = [0];
  for (let at = start; threads.length > 0 && work.left > 0; at += 1) {
    const reached = follow(program, threads, text, at, work);
    if (reached.matches) end = at;
    const code = text[at]?.codePointAt(0);
    if (code === undefined) break;
    threads = reached.reading.filter((step) => reads(program[step], code)).map((step) => step + 1);
  }
  return end;
}

function reads(step: AutomatonStep | undefined, code: number): boolean {
  return step?.op === 'read' && step.reads(code);
}

/** The instructions that wait for the next character, from these. */
function follow(
  program: readonly AutomatonStep[],
  from: readonly number[],
  text: readonly string[],
  at: number,
  work: { left: number },
): { reading: number[]; matches: boolean } {
  const seen = new Set<number>();
  const reading: number[] = [];
  const open = [...from];
  let matches = false;
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const step = program[index];
    if (step === undefined || seen.has(index)) continue;
    seen.add(index);
    work.left -= 1;
    if (step.op === 'match') matches = true;
    else if (step.op === 'read') reading.push(index);
    else if (step.op === 'split') open.push(...step.to);
    else if (holds(step.assertion, text, at)) open.push(index + 1);
  }
  return { reading, matches };
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
