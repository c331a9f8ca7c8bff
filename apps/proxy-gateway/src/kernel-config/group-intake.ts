import type { NameFilter, NameTest } from '@gatehouse/subscription-formats';
import type { GroupIntake } from '../data/group-intake.js';
import { NamePatternError } from './name-pattern.js';
import { patternOf } from './node-filter.js';

/** What filters of profiles look at. */
export interface IntakeNode {
  tag: string;
  /** The name that its provider gave. */
  originalName: string;
  type: string;
  subscriptionIds: readonly number[];
}

type Test = (node: Pick<IntakeNode, 'originalName' | 'type'>) => boolean;

interface CompiledFilter {
  /** In order of preference. */
  include: Test[];
  excludes: Test;
}

/** Null for patterns that the engine does not read. */
export function compileFilter({ include, exclude, excludeTypes, readable }: NameFilter): CompiledFilter | null {
  if (!readable) return null;
  try {
    const excluded = exclude.map(compileTest);
    return {
      include: include.length === 0 ? [() => true] : include.map(compileTest),
      excludes: (node) => excludeTypes.includes(node.type) || excluded.some((test) => test(node)),
    };
  } catch (error) {
    if (error instanceof NamePatternError) return null;
    throw error;
  }
}

function compileTest({ all, none, ignoreCase }: NameTest): Test {
  const must = all.map((text) => patternOf(text, ignoreCase));
  const mustNot = none.map((text) => patternOf(text, ignoreCase));
  return ({ originalName }) =>
    must.every((pattern) => pattern.test(originalName)) && !mustNot.some((pattern) => pattern.test(originalName));
}

/** Tags of the nodes that an intake takes, in order. A filter that cannot be read takes none. */
export function takeNodes({ sources, filter, asListed }: GroupIntake, nodes: readonly IntakeNode[]): string[] {
  const own = compileFilter(filter);
  if (own === null) return [];
  const found = sources.flatMap((source) => {
    const compiled = compileFilter(source.filter);
    if (compiled === null) return [];
    const inside = nodes.filter(({ subscriptionIds }) => subscriptionIds.includes(source.subscriptionId));
    if (source.byName) inside.sort((a, b) => byBytes(a.originalName, b.originalName));
    return pick(inside, compiled);
  });
  const taken = new Set(pick(found, own));
  return (asListed ? found.filter((node) => taken.has(node)) : [...taken]).map(({ tag }) => tag);
}

/** The order of names in UTF-8, which is mihomo's. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Halves of the characters beyond U+FFFF come behind all others. */
function rank(code: number): number {
  if (code < 0xd800) return code;
  return code < 0xe000 ? code + 0x2000 : code - 0x800;
}

function pick(nodes: readonly IntakeNode[], { include, excludes }: CompiledFilter): IntakeNode[] {
  const left = nodes.filter((node) => !excludes(node));
  return [...new Set(include.flatMap((test) => left.filter(test)))];
}
