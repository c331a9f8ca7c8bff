import { createSystemResolver, slideOver } from '@gatehouse/proxy-kernel';
import type { Resolver } from '@gatehouse/proxy-kernel';

/** The number of names resolved at once. */
const AT_ONCE = 32;

/** Resolves names to one address each; names without an address are absent. Rejects only with the signal's reason. */
export async function resolveServers(
  names: Iterable<string>,
  signal: AbortSignal,
  resolver: Resolver = createSystemResolver({ cacheSize: 0 }),
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const work = async (name: string): Promise<void> => {
    try {
      const [first] = await resolver.resolve(name, signal);
      if (first !== undefined) found.set(name, first);
    } catch {
      // A name that does not resolve gives no country; the caller tries the next source.
      signal.throwIfAborted();
    }
  };
  await slideOver(new Set(names), work, { concurrency: AT_ONCE, perKey: AT_ONCE, keyOf: () => '', signal });
  return found;
}
