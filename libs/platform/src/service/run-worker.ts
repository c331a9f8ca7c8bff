import type { AddressInfo } from 'node:net';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthRegistry } from '../health/health-registry.js';
import { HEALTH_ADDRESS, serveHealth } from '../health/health-server.js';
import { MetricsRegistry } from '../metrics/metrics-registry.js';
import { localMetrics } from '../metrics/watch-metrics.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import { createLogger, rootModule } from './create-service-app.js';
import { listenForMetrics } from './listen-for-metrics.js';
import { runProcess, type RunningProcess } from './process-lifecycle.js';
import type { ServiceDefinition } from './run-service.js';
import { explainListenError } from './start-failure.js';
import { startServiceTracing } from './start-service-tracing.js';

export type WorkerDefinition<S extends ServiceSettings> = Pick<
  ServiceDefinition<S>,
  'name' | 'settings' | 'module' | 'prepare'
>;

/** worker.ts of a service: the same modules without an HTTP server. */
export async function runWorker<S extends ServiceSettings>(definition: WorkerDefinition<S>): Promise<void> {
  await runProcess(definition.name, () => startWorker(definition));
}

async function startWorker<S extends ServiceSettings>(definition: WorkerDefinition<S>): Promise<RunningProcess> {
  const settings = definition.settings();
  const logger = createLogger({ name: definition.name, settings });
  await definition.prepare?.(settings, logger);
  const tracing = await startServiceTracing(definition.name, settings, logger);
  const root = rootModule({ module: definition.module(settings) }, logger);
  const context = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  try {
    const metricsPort = await listenForMetrics(context, {
      port: settings.workerMetricsPort,
      portVariable: 'WORKER_METRICS_PORT',
      address: settings.metricsAddress,
    });
    const health = await listenForHealth(settings, context);
    const ready = { ...health.ready, ...(metricsPort === undefined ? {} : { metricsPort }) };
    logger.log('working', { ...ready }, 'Service');
    const stop = async (): Promise<void> => {
      health.close();
      await context.close();
      await tracing.stop();
    };
    return { logger, stop, ready };
  } catch (error) {
    await context.close();
    throw error;
  }
}

async function listenForHealth(
  { healthPort: port, workerMetricsPort }: Readonly<ServiceSettings>,
  context: INestApplicationContext,
): Promise<{ ready: { healthPort?: number }; close: () => void }> {
  if (port === undefined) return { ready: {}, close: () => undefined };
  const metrics = context.get(MetricsRegistry);
  const routes = workerMetricsPort === undefined ? localMetrics(() => metrics.render()) : {};
  try {
    const server = await serveHealth(port, context.get(HealthRegistry), routes);
    return { ready: { healthPort: (server.address() as AddressInfo).port }, close: () => void server.close() };
  } catch (error) {
    throw explainListenError(error, { port, portVariable: 'HEALTH_PORT', address: HEALTH_ADDRESS });
  }
}
