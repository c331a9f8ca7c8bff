import { NestFactory } from '@nestjs/core';
import type { ServiceSettings } from '../settings/service-settings.js';
import { createLogger, rootModule } from './create-service-app.js';
import { runProcess, type RunningProcess } from './process-lifecycle.js';
import type { ServiceDefinition } from './run-service.js';

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
  logger.log('working', 'Service');
  return { logger, stop: () => context.close(), ready: {} };
}
