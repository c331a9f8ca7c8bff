import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until `condition` returns something truthy and returns it. A condition that throws is asked again; after
 * `timeoutMs` (30 s: a busy machine needs its time, a condition that holds costs none) the last reason is raised.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, intervalMs = 10 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs;
  let reason: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      reason = undefined;
    } catch (error) {
      reason = error;
    }
    if (performance.now() > end) {
      throw new Error(`The condition did not hold within ${timeoutMs} ms: ${String(condition).slice(0, 200)}`, {
        cause: reason,
      });
    }
    await delay(intervalMs);
  }
}
