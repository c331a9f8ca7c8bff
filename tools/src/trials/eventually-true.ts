import { setTimeout as delay } from 'node:timers/promises';

/** Resolves to whether it became true in time. A condition that rejects is not true yet. */
export async function eventuallyTrue(condition: () => Promise<boolean>, timeoutMs = 30_000): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    if (await condition().catch(() => false)) return true;
    if (performance.now() > end) return false;
    await delay(100);
  }
}
