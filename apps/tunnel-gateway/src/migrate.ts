import 'reflect-metadata';
import { runCommand } from '@gatehouse/platform';
import { migrateDatabase, SERVICE_NAME } from './database.js';
import { readSettings } from './settings.js';

await runCommand(SERVICE_NAME, async () => {
  const { databaseUrl, redisUrl } = readSettings();
  const applied = await migrateDatabase(databaseUrl, redisUrl);
  return applied.length === 0 ? ['nothing to migrate'] : applied.map((name) => `applied ${name}`);
});
