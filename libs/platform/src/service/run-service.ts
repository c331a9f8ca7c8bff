import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import type { DynamicModule, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { JsonLogger } from '../logging/json-logger.js';
import { listenForMetrics } from './listen-for-metrics.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import { createLogger, createServiceApp } from './create-service-app.js';
import { shutdownGracefully } from './graceful-shutdown.js';
import { runProcess, stopLimitOf, type RunningProcess } from './process-lifecycle.js';
import type { HttpOptions } from './service-options.js';
import { explainListenError } from './start-failure.js';
import { startServiceTracing } from './start-service-tracing.js';

export interface ServiceDefinition<S extends ServiceSettings> {
  readonly name: string;
  /** Reads the settings; thrown problems are printed, one per line. */
  readonly settings: () => Readonly<S>;
  readonly module: (settings: Readonly<S>) => Type | DynamicModule;
  readonly port: (settings: Readonly<S>) => number;
  /** The variable of the port, for the message about a taken one. */
  readonly portVariable: string;
  /** The variable of the separate port for `/metrics`. */
  readonly metricsPortVariable: string;
  readonly http: HttpOptions | ((settings: Readonly<S>) => HttpOptions);
  /**
   * Runs before the application exists: migrations, keys. Throws StartError for problems that an operator must solve.
   */
  readonly prepare?: (settings: Readonly<S>, logger: JsonLogger) => Promise<void>;
  /** Runs on the configured application, before it listens. */
  readonly configure?: (app: NestExpressApplication, settings: Readonly<S>) => void | Promise<void>;
}

/** main.ts of a service: starts, notifies the parent process when it is ready, and stops on signals or when the parent ends. */
export async function runService<S extends ServiceSettings>(definition: ServiceDefinition<S>): Promise<void> {
  await runProcess(definition.name, () => startService(definition));
}

async function startService<S extends ServiceSettings>(definition: ServiceDefinition<S>): Promise<RunningProcess> {
  const settings = definition.settings();
  const logger = createLogger({ name: definition.name, settings });
  await definition.prepare?.(settings, logger);
  const tracing = await startServiceTracing(definition.name, settings, logger);
  const app = await createServiceApp({
    name: definition.name,
    module: definition.module(settings),
    settings,
    http: typeof definition.http === 'function' ? definition.http(settings) : definition.http,
    logger,
  });
  const times = { delayMs: settings.shutdownDelayMs, deadlineMs: settings.shutdownTimeoutMs };
  const stop = async (): Promise<void> => {
    await shutdownGracefully(app, times);
    await tracing.stop();
  };
  try {
    await definition.configure?.(app, settings);
    // First, so that a service that is ready also has its metrics.
    const metricsPort = await listenForMetrics(app, {
      port: settings.metricsPort,
      portVariable: definition.metricsPortVariable,
      address: settings.metricsAddress,
    });
    const port = await listen(app, definition, settings);
    logger.log('listening', { address: settings.bindAddress, port, metricsPort }, 'Service');
    return { logger, stop, stopLimitMs: stopLimitOf(settings), ready: { port, metricsPort } };
  } catch (error) {
    await shutdownGracefully(app, { ...times, delayMs: 0 });
    throw error;
  }
}

async function listen<S extends ServiceSettings>(
  app: NestExpressApplication,
  { port, portVariable }: ServiceDefinition<S>,
  settings: Readonly<S>,
): Promise<number> {
  const target = { port: port(settings), portVariable, address: settings.bindAddress };
  try {
    await app.listen(target.port, target.address);
  } catch (error) {
    throw explainListenError(error, target);
  }
  const server = app.getHttpServer() as Server;
  return (server.address() as AddressInfo).port;
}
