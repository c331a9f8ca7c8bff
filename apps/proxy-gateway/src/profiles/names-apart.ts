import { nameProblem } from '../outbound/group-definition.js';

const MAX_GROUP_NAME = 180;
const MAX_SET_NAME = 200;

/** The names that are taken outside a profile, and those that its items have from before. */
export interface NameSpace {
  /** Of the subscription. */
  label: string;
  taken: ReadonlySet<string>;
  /** By the name in the profile. */
  stored: ReadonlyMap<string, string>;
}

/**
 * The name under which each item is stored: its own, unless something outside the profile has that. A name that was
 * once given stays.
 */
export function namesApart(
  names: readonly string[],
  space: NameSpace,
  make: (name: string, label: string) => string[],
): Map<string, string> {
  const found = new Map<string, string>();
  const used = new Set<string>([...space.taken, ...names.flatMap((name) => space.stored.get(name) ?? [])]);
  for (const name of names) {
    const before = space.stored.get(name);
    const chosen = before ?? firstFree(make(name, space.label), used);
    used.add(chosen);
    found.set(name, chosen);
  }
  return found;
}

function firstFree(candidates: readonly string[], used: ReadonlySet<string>): string {
  const last = candidates.at(-1) ?? '';
  const free = candidates.find((candidate) => candidate !== '' && !used.has(candidate));
  if (free !== undefined) return free;
  for (let number = 2; ; number++) if (!used.has(`${last} ${number}`)) return `${last} ${number}`;
}

/** `🚀 节点选择`, otherwise `Provider/🚀 节点选择`. */
export function groupNames(name: string, label: string): string[] {
  // A comma separates the parts of a rule.
  const clean = name.replaceAll(',', '，').slice(0, MAX_GROUP_NAME);
  const behind = `${label.replaceAll(',', '，')}/${clean}`.slice(0, MAX_GROUP_NAME);
  return nameProblem(clean) === null ? [clean, behind] : [behind];
}

/** `reject`, otherwise `reject@Provider`, with the characters that names of sets may have. */
export function setNames(name: string, label: string): string[] {
  const clean = (text: string): string =>
    text
      .replace(/[^\p{L}\p{N} ._@!+-]+/gu, '-')
      .replace(/^[^\p{L}\p{N}]+|[ ]+$/gu, '')
      .slice(0, MAX_SET_NAME) || 'set';
  return [clean(name), clean(`${name}@${label}`)];
}
