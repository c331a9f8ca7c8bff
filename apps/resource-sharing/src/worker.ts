import 'reflect-metadata';
import { WorkerModule } from './app.module.js';
import { SERVICE } from './service.js';

await SERVICE.runWorker((settings) => WorkerModule.forRoot(settings));
