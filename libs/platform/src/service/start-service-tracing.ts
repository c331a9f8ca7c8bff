import { startTracing, type RunningTracing } from '@gatehouse/tracing';
import type { JsonLogger } from '../logging/json-logger.js';
import { tracingOptions, type TracingSettings } from '../settings/tracing-settings.js';

/** Traces a program if its settings say where to. Before the modules are made, because the database is traced from its first connection. */
export async function startServiceTracing(
  program: string,
  settings: Readonly<TracingSettings>,
  logger: JsonLogger,
): Promise<RunningTracing> {
  const options = tracingOptions(settings, program);
  const tracing = await startTracing(options, {
    failed: (reason) =>
      logger.warn('The receiver of traces does not take them; they are lost until it does', { reason }, 'Tracing'),
    resumed: (lost) => logger.log('The receiver of traces takes them again', { lost }, 'Tracing'),
  });
  if (options !== null) logger.log('tracing', { to: new URL(options.url).host, sampler: options.sampler }, 'Tracing');
  return tracing;
}
