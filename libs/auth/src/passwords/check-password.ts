import { hashPassword, needsRehash, verifyPassword } from './password-hash.js';

/** The stored password of one account. */
export interface StoredPassword {
  readonly hash: string;
  /**
   * Stores `newer` if `hash` is still stored, because the password may have been changed in the meantime. Resolves to
   * whether it did.
   */
  readonly replace: (newer: string) => Promise<boolean>;
}

/**
 * Resolves to the stored hash if `password` is right, and otherwise to undefined. Without a stored password it takes as
 * long, so that unknown accounts cannot be found. A hash with outdated parameters is replaced.
 */
export async function checkPassword(password: string, stored: StoredPassword | null): Promise<string | undefined> {
  if (!(await verifyPassword(password, stored?.hash)) || stored === null) return undefined;
  if (!needsRehash(stored.hash)) return stored.hash;
  const newer = await hashPassword(password);
  return (await stored.replace(newer)) ? newer : stored.hash;
}
