import type { DynamicModule } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { JsonLogger } from '../logging/json-logger.js';
import { createServiceApp } from './create-service-app.js';
import { NotesModule } from './notes.fixture.js';
import type { HttpOptions } from './service-options.js';
import { loadSettings } from '../settings/load-settings.js';
import { ServiceSettings } from '../settings/service-settings.js';

/** A small service, for specs. `providers`: more of its own. `lines`: what it logs. */
export async function bootNotes(
  http: Partial<HttpOptions>,
  providers: NonNullable<DynamicModule['providers']> = [],
): Promise<{ app: NestExpressApplication; lines: string[] }> {
  const lines: string[] = [];
  const app = await createServiceApp({
    name: 'notes',
    module: { module: class {}, imports: [NotesModule], providers },
    settings: loadSettings(ServiceSettings, { DATABASE_URL: 'postgres://localhost/none' }),
    logger: new JsonLogger({ service: 'notes', level: 'info', write: (line) => void lines.push(line) }),
    http: { errorFormat: 'proxy', ...http },
  });
  await app.init();
  return { app, lines };
}
