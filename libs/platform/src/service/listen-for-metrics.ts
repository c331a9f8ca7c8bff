import type { INestApplicationContext } from '@nestjs/common';
import { MetricsServer } from '../metrics/metrics-server.js';
import { explainListenError, type ListenTarget } from './start-failure.js';

export interface MetricsTarget extends Omit<ListenTarget, 'port'> {
  /** Undefined: no port for metrics is wanted. */
  readonly port: number | undefined;
}

/** Opens the port for `/metrics` of a process, if it has one, and resolves to it. @throws StartError */
export async function listenForMetrics(
  context: INestApplicationContext,
  { port, ...rest }: MetricsTarget,
): Promise<number | undefined> {
  if (port === undefined) return undefined;
  const server = context.get(MetricsServer);
  try {
    await server.listen(port, rest.address);
  } catch (error) {
    throw explainListenError(error, { ...rest, port, addressVariable: 'METRICS_ADDRESS' });
  }
  return server.port;
}
