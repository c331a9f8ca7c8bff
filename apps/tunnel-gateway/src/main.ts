import 'reflect-metadata';
import { runService } from '@gatehouse/platform';
import { AppModule } from './app.module.js';
import { prepareDatabase, SERVICE_NAME } from './database.js';
import { canServeWithout, serveUntilDatabase } from './edge-host/serve-without-database.js';
import type { RunningEdge } from './edge-host/start-edge.js';
import { HTTP_OPTIONS } from './http-options.js';
import { readSettings } from './settings.js';

/** Serves since before the database answered. */
let edge: RunningEdge | undefined;

await runService({
  name: SERVICE_NAME,
  settings: readSettings,
  module: (settings) => AppModule.forRoot(settings, edge),
  port: ({ port }) => port,
  portVariable: 'TUNNEL_GATEWAY_PORT',
  metricsPortVariable: 'TUNNEL_GATEWAY_METRICS_PORT',
  http: HTTP_OPTIONS,
  prepare: async (settings, logger) => {
    try {
      await prepareDatabase(settings, logger);
    } catch (error) {
      if (!canServeWithout(error, settings)) throw error;
      edge = await serveUntilDatabase(settings, logger);
      await prepareDatabase(settings, logger);
    }
  },
});
