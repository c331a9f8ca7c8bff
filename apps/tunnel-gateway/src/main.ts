import 'reflect-metadata';
import { runService } from '@gatehouse/platform';
import { AppModule } from './app.module.js';
import { prepareDatabase, SERVICE_NAME } from './database.js';
import { HTTP_OPTIONS } from './http-options.js';
import { readSettings } from './settings.js';

await runService({
  name: SERVICE_NAME,
  settings: readSettings,
  module: (settings) => AppModule.forRoot(settings),
  port: ({ port }) => port,
  portVariable: 'TUNNEL_GATEWAY_PORT',
  http: HTTP_OPTIONS,
  prepare: prepareDatabase,
});
