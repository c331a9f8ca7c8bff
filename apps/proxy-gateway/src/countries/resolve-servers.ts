import { createSystemResolver, slideOver } from '@gatehouse/proxy-kernel';
import type { Resolver } from '@gatehouse/proxy-kernel';

/** Names asked for at once. */
const AT_ONCE = 32;

/** An address for each name that has one. Rejects only with the signal's reason. */
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
      // A name that does not resolve tells no country; the next way of finding one is tried.
      signal.throwIfAborted();
    }
  };
  await slideOver(new Set(names), work, { concurrency: AT_ONCE, perKey: AT_ONCE, keyOf: () => '', signal });
  return found;
}
