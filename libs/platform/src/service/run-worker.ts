import type { AddressInfo } from 'node:net';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthRegistry } from '../health/health-registry.js';
import { HEALTH_ADDRESS, serveHealth } from '../health/health-server.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import { createLogger, rootModule } from './create-service-app.js';
import { runProcess, type RunningProcess } from './process-lifecycle.js';
import type { ServiceDefinition } from './run-service.js';
import { explainListenError } from './start-failure.js';

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
  const root = rootModule({ module: definition.module(settings) }, logger);
  const context = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  const health = await listenForHealth(settings.healthPort, context);
  logger.log('working', { ...health.ready }, 'Service');
  const stop = async (): Promise<void> => {
    health.close();
    await context.close();
  };
  return { logger, stop, ready: health.ready };
}

async function listenForHealth(
  port: number | undefined,
  context: INestApplicationContext,
): Promise<{ ready: { healthPort?: number }; close: () => void }> {
  if (port === undefined) return { ready: {}, close: () => undefined };
  try {
    const server = await serveHealth(port, context.get(HealthRegistry));
    return { ready: { healthPort: (server.address() as AddressInfo).port }, close: () => void server.close() };
  } catch (error) {
    await context.close();
    throw explainListenError(error, { port, portVariable: 'HEALTH_PORT', address: HEALTH_ADDRESS });
  }
}
