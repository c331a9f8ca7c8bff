import { AppError } from '@gatehouse/platform';

/** A target that a group or the default policy can refer to. */
export interface PolicyOption {
  /** Kernel tag. */
  tag: string;
  /** The name that users see. Two nodes may have the same. */
  name: string;
  /** Why it cannot be chosen; null if it can. */
  problem: string | null;
}

/**
 * Resolves `n12`, `12`, a name, a group or a built-in to a target.
 * @throws AppError UNPROCESSABLE if there is none or it cannot be used; CONFLICT if several nodes have the name.
 */
export function resolvePolicy(text: string, options: readonly PolicyOption[], field: string): PolicyOption {
  const byTag = options.find(({ tag }) => tag === text || tag === `n${text}` || isBuiltIn(tag, text));
  const named = options.filter(({ name }) => name === text);
  // A tag is exact and takes precedence over a node that a user named "n12" or "DIRECT".
  const found = byTag ?? (named.length === 1 ? named[0] : undefined);
  if (found?.problem) throw refused('UNPROCESSABLE', field, `${found.name} ${found.problem}`);
  if (found) return found;
  if (named.length === 0) throw refused('UNPROCESSABLE', field, `No node or group is called ${JSON.stringify(text)}`);
  const tags = named.slice(0, 5).map(({ tag }) => tag);
  throw refused(
    'CONFLICT',
    field,
    `${named.length} nodes are called ${JSON.stringify(text)}: use ${tags.join(' or ')}`,
  );
}

function isBuiltIn(tag: string, text: string): boolean {
  return /^(DIRECT|REJECT|REJECT-DROP)$/.test(tag) && tag === text.toUpperCase();
}

function refused(code: 'UNPROCESSABLE' | 'CONFLICT', field: string, message: string): AppError {
  return new AppError(code, `${message}.`, { details: [{ field, message }] });
}
