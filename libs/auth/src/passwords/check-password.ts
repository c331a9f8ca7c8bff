import { hashPassword, needsRehash, verifyPassword } from './password-hash.js';

/** The password of one account as it is stored. */
export interface StoredPassword {
  readonly hash: string;
  /** Stores `newer` if `hash` is still stored: the password may have been changed meanwhile. Resolves to whether it was. */
  readonly replace: (newer: string) => Promise<boolean>;
}

/**
 * Resolves to the hash that is stored if `password` is right, else to undefined. Without a stored password it takes as
 * long, so that unknown accounts cannot be found. A hash made with other parameters than today's is replaced.
 */
export async function checkPassword(password: string, stored: StoredPassword | null): Promise<string | undefined> {
  if (!(await verifyPassword(password, stored?.hash)) || stored === null) return undefined;
  if (!needsRehash(stored.hash)) return stored.hash;
  const newer = await hashPassword(password);
  return (await stored.replace(newer)) ? newer : stored.hash;
}
