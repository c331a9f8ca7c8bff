import 'reflect-metadata';
import { JsonLogger, runService } from '@gatehouse/platform';
import { AppModule } from './app.module.js';
import { prepareDatabase, SERVICE_NAME } from './database.js';
import { HTTP_OPTIONS } from './http-options.js';
import { readSettings } from './settings.js';

await runService({
  name: SERVICE_NAME,
  settings: readSettings,
  module: (settings) => AppModule.forRoot(settings),
  port: ({ port }) => port,
  portVariable: 'RESOURCE_SHARING_PORT',
  metricsPortVariable: 'RESOURCE_SHARING_METRICS_PORT',
  http: HTTP_OPTIONS,
  prepare: prepareDatabase,
  configure: (app, { publicUrl, secureCookies }) => {
    if (secureCookies) return;
    const message = 'without https browsers send login cookies to every port of its name, those of tunnels included';
    app.get(JsonLogger).warn(message, { publicUrl }, 'Site');
  },
});
