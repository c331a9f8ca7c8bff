import { hash } from 'node:crypto';

/** The kind of use of a secret; a connection remembers the last secret of each. */
export type SecretUse = 'key' | 'token';

interface Presented {
  readonly text: string;
  readonly digest: string;
}

const LAST = Symbol('presented secrets');

interface Connection {
  [LAST]?: Partial<Record<SecretUse, Presented>>;
}

/**
 * The SHA-256 of a secret, which is the key of all caches. A connection usually sends the same secret with every
 * request, so its last one of each use is remembered and hashed once.
 */
export function digestOf(text: string, use: SecretUse, connection?: object): string {
  if (connection === undefined) return hash('sha256', text, 'base64');
  const presented = ((connection as Connection)[LAST] ??= {});
  const last = presented[use];
  if (last !== undefined && isSame(last.text, text)) return last.digest;
  const digest = hash('sha256', text, 'base64');
  presented[use] = { text, digest };
  return digest;
}

/**
 * Takes the same time wherever the texts differ: on a connection from a proxy, the last secret may belong to another
 * caller.
 */
function isSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
