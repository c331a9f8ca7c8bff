import { setImmediate } from 'node:timers/promises';

/** About ten milliseconds of sealing. */
const SLICE = 500;

/** Maps a long list and yields to the event loop after every slice. */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % SLICE === 0) await setImmediate();
    results.push(map(item));
  }
  return results;
}
