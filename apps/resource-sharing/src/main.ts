import 'reflect-metadata';
import { JsonLogger } from '@gatehouse/platform';
import { AppModule } from './app.module.js';
import { HTTP_OPTIONS } from './http-options.js';
import { SERVICE } from './service.js';

await SERVICE.runApi({
  module: (settings) => AppModule.forRoot(settings),
  http: HTTP_OPTIONS,
  configure: (app, { publicUrl, secureCookies }) => {
    if (secureCookies) return;
    const message = 'without https browsers send login cookies to every port of its name, those of tunnels included';
    app.get(JsonLogger).warn(message, { publicUrl }, 'Site');
  },
});
