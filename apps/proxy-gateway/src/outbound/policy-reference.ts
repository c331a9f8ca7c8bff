import { AppError } from '@gatehouse/platform';

/** A target that a group or the default policy can refer to. */
export interface PolicyOption {
  /** Kernel tag. */
  tag: string;
  /** The name that users see. Two nodes may have the same. */
  name: string;
  /** The name behind that of each subscription that has the node: `Provider/Tokyo`. Absent: none. */
  qualified?: readonly string[];
  /** Why it cannot be chosen; null if it can. */
  problem: string | null;
}

/**
 * Resolves `n12`, `12`, a name, a group or a built-in to a target. A name that several nodes have can be written behind
 * that of the node's subscription: `Provider/Tokyo`.
 * @throws AppError UNPROCESSABLE if there is none or it cannot be used; CONFLICT if several nodes have the name.
 */
export function resolvePolicy(text: string, options: readonly PolicyOption[], field: string): PolicyOption {
  const byTag = options.find(({ tag }) => tag === text || tag === `n${text}` || isBuiltIn(tag, text));
  const called = options.filter(({ name }) => name === text);
  const named = called.length > 0 ? called : options.filter(({ qualified }) => qualified?.includes(text));
  // A tag is exact and takes precedence over a node that a user named "n12" or "DIRECT".
  const found = byTag ?? (named.length === 1 ? named[0] : undefined);
  if (found?.problem) throw refused('UNPROCESSABLE', field, `${found.name} ${found.problem}`);
  if (found) return found;
  if (named.length === 0) throw refused('UNPROCESSABLE', field, `No node or group is called ${JSON.stringify(text)}`);
  const tags = named.slice(0, 5).map(({ tag, qualified = [] }) => labelled(tag, qualified));
  throw refused(
    'CONFLICT',
    field,
    `${named.length} nodes are called ${JSON.stringify(text)}: use ${tags.join(' or ')}`,
  );
}

/** `n9 ("Provider/Tokyo")`. */
export function labelled(tag: string, [qualified]: readonly string[]): string {
  return qualified === undefined ? tag : `${tag} (${JSON.stringify(qualified.slice(0, 160))})`;
}

function isBuiltIn(tag: string, text: string): boolean {
  return /^(DIRECT|REJECT|REJECT-DROP)$/.test(tag) && tag === text.toUpperCase();
}

function refused(code: 'UNPROCESSABLE' | 'CONFLICT', field: string, message: string): AppError {
  return new AppError(code, `${message}.`, { details: [{ field, message }] });
}
