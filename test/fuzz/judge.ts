import { MAX_CPU_MS, MAX_MEMORY_MB } from './limits.js';
import type { FuzzTarget } from './fuzz-target.js';

/** Takes the best of so many before it calls an input slow: the first pays for compilation and collections of others. */
const TRIES = 3;

/** Megabytes of buffers in this process, where other tests have left some. */
function outsideHeap(): number {
  return process.memoryUsage().external / 2 ** 20;
}

/** What is wrong with how a target took an input; null when nothing is. */
export function judge(target: FuzzTarget, input: Buffer): string | null {
  const wrapped = target.wrap?.(input) ?? input;
  const held = outsideHeap();
  let best = Infinity;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const before = process.threadCpuUsage();
    try {
      target.run(wrapped);
    } catch (error) {
      return `crash: ${error instanceof Error ? `${error.name}: ${error.message}` : 'something thrown'}`;
    }
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
    if (best <= MAX_CPU_MS) break;
  }
  if (best > MAX_CPU_MS) return `hang: ${Math.round(best)} ms`;
  const megabytes = outsideHeap() - held;
  return megabytes > MAX_MEMORY_MB ? `memory: ${Math.round(megabytes)} MB outside the heap` : null;
}
