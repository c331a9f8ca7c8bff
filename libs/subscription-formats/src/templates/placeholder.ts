import { readNameTest } from '../profile/name-filter.js';
import type { NameFilter } from '../profile/profile.js';
import type { NamedNode } from '../targets/own-template.js';
import { compileIntake, type CompileFilter, type Intake } from './template.js';

/** A member of a group that stands for nodes: `{all}`, or `{all:pattern}`. */
const PLACEHOLDER = /^\{all(?::(.*))?\}$/s;

const MAX_PATTERNS = 64;

/** A member as written, or nodes in its place. */
export type Member = { name: string } | { takes: Intake['takes'] };

/** @throws TemplateFailure for a pattern that cannot be read. */
export function readMember(text: string, line: number | null, group: string, compile: CompileFilter): Member {
  const found = PLACEHOLDER.exec(text.trim());
  if (found === null) return { name: text };
  const { takes } = compileIntake(filterOf(found[1] ?? ''), compile, line, group);
  return { takes };
}

/** A filter with the patterns of mihomo, separated by backticks. */
export function filterOf(include: string, exclude = ''): NameFilter {
  const filter: NameFilter = { include: [], exclude: [], excludeTypes: [], readable: true };
  for (const [text, tests] of [
    [include, filter.include],
    [exclude, filter.exclude],
  ] as const) {
    const patterns = text.split('`').filter((part) => part.trim() !== '');
    if (patterns.length > MAX_PATTERNS) filter.readable = false;
    for (const pattern of patterns.slice(0, MAX_PATTERNS)) {
      const test = readNameTest(pattern);
      if (test === null) filter.readable = false;
      else tests.push(test);
    }
  }
  return filter;
}

/** The members of a group in a document, each once, and those that are not in it. */
export function resolveMembers(
  members: readonly Member[],
  nodes: readonly NamedNode[],
  has: (name: string) => boolean,
): { found: string[]; missing: string[] } {
  const missing: string[] = [];
  const found = members.flatMap((member) => {
    if ('takes' in member) return nodes.filter(member.takes).map(({ name }) => name);
    if (has(member.name)) return [member.name];
    missing.push(member.name);
    return [];
  });
  return { found: [...new Set(found)], missing };
}
