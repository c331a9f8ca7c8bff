import 'reflect-metadata';
import { runService } from '@gatehouse/platform';
import { AppModule } from './app.module.js';
import { prepareDatabase } from './database.js';
import { HTTP_OPTIONS } from './http-options.js';
import { SERVICE_NAME } from './service-version.js';
import { readSettings } from './settings.js';

await runService({
  name: SERVICE_NAME,
  settings: readSettings,
  module: (settings) => AppModule.forRoot(settings),
  port: (settings) => settings.port,
  portVariable: 'PROXY_GATEWAY_PORT',
  metricsPortVariable: 'PROXY_GATEWAY_METRICS_PORT',
  http: HTTP_OPTIONS,
  prepare: prepareDatabase,
});
