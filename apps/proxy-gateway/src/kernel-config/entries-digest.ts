import { createHash } from 'node:crypto';

/** Entries of rule sets by the lists that hold them: a configuration is compared at each reload, and they are most of it. */
const digests = new WeakMap<readonly string[], string>();

/** @param entries never altered from now on. */
export function rememberDigest(entries: readonly string[], digest: string): readonly string[] {
  digests.set(entries, digest);
  return entries;
}

/** Equal for equal entries, as far as they were read by the same means. */
export function digestOf(entries: readonly string[]): string {
  const known = digests.get(entries);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(entries.join('\n')).digest('hex');
  digests.set(entries, digest);
  return digest;
}
