import 'reflect-metadata';
import { runWorker } from '@gatehouse/platform';
import { WorkerModule } from './app.module.js';
import { prepareDatabase, SERVICE_NAME } from './database.js';
import { readSettings } from './settings.js';

await runWorker({
  name: `${SERVICE_NAME} worker`,
  settings: readSettings,
  module: (settings) => WorkerModule.forRoot(settings),
  prepare: prepareDatabase,
});
