import type { GroupFilter } from '@gatehouse/contracts';
import { compileNamePattern } from './name-pattern.js';
import type { NamePattern } from './name-pattern.js';

/** The fields of a node that filters use. */
export interface FilteredNode {
  name: string;
  country: string | null;
  type: string;
  subscriptionIds: readonly number[];
  tags: readonly string[];
}

/** The `countries` value for nodes without a known country. */
export const UNKNOWN_COUNTRY = 'ZZ';

const MAX_PATTERNS = 256;
/** Cached answers over all patterns, since a reload asks for the same names again. */
const MAX_ANSWERS = 200_000;
const compiled = new Map<string, NamePattern>();
let answers = 0;

/** A predicate for a filter; every field that is given must match. @throws NamePatternError */
export function compileNodeFilter(filter: GroupFilter): (node: FilteredNode) => boolean {
  const tests: ((node: FilteredNode) => boolean)[] = [];
  const { name, countries, types, subscription_ids: subscriptionIds, tags } = filter;
  if (countries) tests.push(({ country }) => countries.includes(country ?? UNKNOWN_COUNTRY));
  if (types) tests.push(({ type }) => types.includes(type));
  if (subscriptionIds) tests.push((node) => node.subscriptionIds.some((id) => subscriptionIds.includes(id)));
  if (tags) tests.push((node) => node.tags.some((tag) => tags.includes(tag)));
  // The most expensive test comes last.
  if (name !== undefined) {
    const pattern = patternOf(name);
    tests.push((node) => pattern.test(node.name));
  }
  return (node) => tests.every((test) => test(node));
}

/** A compiled pattern, kept for the next reload. @throws NamePatternError */
export function patternOf(text: string, ignoreCase = true): NamePattern {
  const key = `${ignoreCase ? 'i' : 'c'}${text}`;
  const known = compiled.get(key);
  if (known) return known;
  if (compiled.size >= MAX_PATTERNS || answers >= MAX_ANSWERS) {
    compiled.clear();
    answers = 0;
  }
  const pattern = remembering(compileNamePattern(text, ignoreCase));
  compiled.set(key, pattern);
  return pattern;
}

function remembering(pattern: NamePattern): NamePattern {
  const known = new Map<string, boolean>();
  return {
    test(name) {
      const before = known.get(name);
      if (before !== undefined) return before;
      const answer = pattern.test(name);
      if (answers < MAX_ANSWERS) {
        answers++;
        known.set(name, answer);
      }
      return answer;
    },
  };
}
