import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_MS = 5_000;
/** Share of the time that the event loop works; below it, a collection delays nobody. */
const IDLE_BELOW = 0.05;
/** Growth of resident memory since the last collection, in bytes, that makes another one worth its 100 ms. */
const WORTH_BYTES = 12 * 1024 * 1024;
/** Less is worth it when the last collection was long ago: 100 ms in five minutes are 0.03 % of a core. */
const WORTH_LATER_BYTES = 2 * 1024 * 1024;
const LATER_MS = 300_000;

/** Inputs and effects of the collection; replaced in tests. */
export interface CollectionDependencies {
  /** Busy share of the event loop since the last call, 0 to 1. */
  readonly busyShare: () => number;
  /** Resident memory in bytes. */
  readonly residentBytes: () => number;
  readonly collect: () => void;
}

/**
 * Frees memory once the process is idle. V8 collects only when something allocates, so an idle service would keep the
 * garbage of its start, or of its last burst, for hours. Returns a function that stops it.
 */
export function collectWhenIdle(replaced: Partial<CollectionDependencies> = {}): () => void {
  const { busyShare, residentBytes, collect } = { ...ofThisProcess(), ...replaced };
  let kept = 0;
  let sinceMs = 0;
  const timer = setInterval(() => {
    sinceMs += LOOK_MS;
    const worth = sinceMs > LATER_MS ? WORTH_LATER_BYTES : WORTH_BYTES;
    if (busyShare() > IDLE_BELOW || residentBytes() - kept < worth) return;
    collect();
    kept = residentBytes();
    sinceMs = 0;
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function ofThisProcess(): CollectionDependencies {
  let last = performance.eventLoopUtilization();
  return {
    busyShare: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    residentBytes: () => process.memoryUsage.rss(),
    collect: exposedCollector(),
  };
}

/** The collector of `--expose-gc` without the flag on every command line; `last-resort` also returns free pages. */
function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: string; flavor: string }) => void;
  return () => collect({ type: 'major', flavor: 'last-resort' });
}
