import 'reflect-metadata';
import { runCommand } from '@gatehouse/platform';
import { migrateDatabase } from './database.js';
import { SERVICE_NAME } from './service-version.js';
import { readSettings } from './settings.js';

await runCommand(SERVICE_NAME, async () => {
  const applied = await migrateDatabase(readSettings());
  return applied.length === 0 ? ['nothing to migrate'] : applied.map((name) => `applied ${name}`);
});
