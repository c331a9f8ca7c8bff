import { createHash } from 'node:crypto';

/** Digests of rule sets by their list of entries. Reloads compare configurations, which consist mostly of entries. */
const digests = new WeakMap<readonly string[], string>();

/** @param entries must not change after this call. */
export function rememberDigest(entries: readonly string[], digest: string): readonly string[] {
  digests.set(entries, digest);
  return entries;
}

/** Equal for equal entries, as long as both were read in the same way. */
export function digestOf(entries: readonly string[]): string {
  const known = digests.get(entries);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(entries.join('\n')).digest('hex');
  digests.set(entries, digest);
  return digest;
}
