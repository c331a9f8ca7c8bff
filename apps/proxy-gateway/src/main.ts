import 'reflect-metadata';
import { AppModule } from './app.module.js';
import { HTTP_OPTIONS } from './http-options.js';
import { SERVICE } from './service.js';

await SERVICE.runApi({ module: (settings) => AppModule.forRoot(settings), http: HTTP_OPTIONS });
