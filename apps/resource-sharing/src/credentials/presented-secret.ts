import { hash } from 'node:crypto';

/** The kind of use of a secret; a connection remembers the last secret of each. */
export type SecretUse = 'key' | 'token';

const LAST = Symbol('presented secrets');

interface Connection {
  /** For each use, the last secret and its digest. */
  [LAST]?: Partial<Record<SecretUse, Map<string, string>>>;
}

/**
 * The SHA-256 of a secret, which is the key of all caches. A connection usually sends the same secret with every
 * request, so its last one of each use is remembered and hashed once.
 */
export function digestOf(text: string, use: SecretUse, connection?: object): string {
  if (connection === undefined) return hash('sha256', text, 'base64');
  const presented = ((connection as Connection)[LAST] ??= {});
  // On a connection from a proxy, the last secret may belong to another caller. A map compares hashes with a random seed
  // first, so how much of a text is right does not change how long it takes.
  const known = presented[use]?.get(text);
  if (known !== undefined) return known;
  const digest = hash('sha256', text, 'base64');
  presented[use] = new Map([[text, digest]]);
  return digest;
}
