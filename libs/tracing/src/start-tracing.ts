import type { DeliveryLog } from './report-delivery.js';
import { setActiveTracing } from './tracing.js';
import type { TracingOptions } from './tracing-options.js';

export interface RunningTracing {
  /** Sends the last spans, for two seconds at most. */
  stop(): Promise<void>;
}

/** Nothing is loaded and nothing started without options. */
export async function startTracing(options: TracingOptions | null, log: DeliveryLog): Promise<RunningTracing> {
  if (options === null) return { stop: () => Promise.resolve() };
  // Loaded on demand: a bundle has it in a file of its own.
  const { OpenTelemetryTracing } = await import('./open-telemetry.js');
  const tracing = new OpenTelemetryTracing(options, log);
  setActiveTracing(tracing);
  return {
    stop: async () => {
      setActiveTracing(null);
      await tracing.stop();
    },
  };
}
