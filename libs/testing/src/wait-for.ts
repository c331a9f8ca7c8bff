import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/**
 * Waits until `condition` returns something truthy and returns it. A condition that throws is asked again; after
 * `timeoutMs` (30 s: a busy machine needs its time, a condition that holds costs none) the last reason is raised.
 * Without `intervalMs` the pauses grow with the time waited: a condition is often a request, and what it waits for needs
 * the processor too.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, intervalMs }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<NonNullable<T>> {
  const start = performance.now();
  let reason: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      reason = undefined;
    } catch (error) {
      reason = error;
    }
    const waitedMs = performance.now() - start;
    if (waitedMs > timeoutMs) {
      throw new Error(`The condition did not hold within ${timeoutMs} ms: ${String(condition).slice(0, 200)}`, {
        cause: reason,
      });
    }
    await delay(intervalMs ?? Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs / 5)));
  }
}
