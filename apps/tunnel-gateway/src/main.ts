import 'reflect-metadata';
import { AppModule } from './app.module.js';
import { canServeWithout, serveUntilDatabase } from './edge-host/serve-without-database.js';
import type { RunningEdge } from './edge-host/start-edge.js';
import { HTTP_OPTIONS } from './http-options.js';
import { SERVICE } from './service.js';

/** An edge that started before the database answered. */
let edge: RunningEdge | undefined;

await SERVICE.runApi({
  module: (settings) => AppModule.forRoot(settings, edge),
  http: HTTP_OPTIONS,
  prepare: async (settings, logger) => {
    try {
      await SERVICE.prepare(settings, logger);
    } catch (error) {
      if (!canServeWithout(error, settings)) throw error;
      edge = await serveUntilDatabase(settings, logger);
      await SERVICE.prepare(settings, logger);
    }
  },
});
