import 'reflect-metadata';
import { runWorker } from '@gatehouse/platform';
import { SERVICE_NAME, WorkerModule } from './app.module.js';
import { prepareDatabase } from './database.js';
import { readSettings } from './settings.js';

await runWorker({
  name: `${SERVICE_NAME} worker`,
  settings: readSettings,
  module: (settings) => WorkerModule.forRoot(settings),
  prepare: prepareDatabase,
});
