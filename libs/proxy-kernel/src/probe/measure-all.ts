import type { NodeProber, ProbeOptions, ProbeResult, ProbeTarget } from '../interfaces/probe.js';
import { slideOver } from './sliding-window.js';

export interface MeasureAllOptions<T extends ProbeTarget> extends ProbeOptions {
  /** Measurements at once. Default 128. */
  concurrency?: number;
  /** Measurements at once that connect to the same server. Default 8. */
  perAddress?: number;
  /** The first ones begin spread over this time, so that no burst leaves at once. Default 100. */
  jitterMs?: number;
  /** Called once a target, as its measurement ends; a failure here ends everything. */
  onResult(target: T, result: ProbeResult): void | Promise<void>;
}

const DEFAULTS = { concurrency: 128, perAddress: 8, jitterMs: 100 };

/**
 * Measures each target once in a sliding window: the next begins as soon as one ends. Rejects with the signal's reason
 * when it is aborted; nothing runs any more by then.
 */
export function measureAll<T extends ProbeTarget>(
  prober: NodeProber,
  targets: Iterable<T>,
  options: MeasureAllOptions<T>,
): Promise<void> {
  const { concurrency, perAddress, jitterMs } = { ...DEFAULTS, ...options };
  return slideOver<T>(
    targets,
    async (target) => {
      const result = await prober.probe(target, options);
      await options.onResult(target, result);
    },
    { concurrency, perKey: perAddress, keyOf: firstServer, jitterMs, signal: options.signal },
  );
}

/** The machine that this one connects to. */
function firstServer({ node, via }: ProbeTarget): string {
  return (via?.[0] ?? node).server.toLowerCase();
}
