import 'reflect-metadata';
import { createSecretBox, dataKeyColumn, loadSecretKeys, resealDatabase } from '@gatehouse/persistence';
import { runCommand } from '@gatehouse/platform';
import { SCHEMA, SERVICE_NAME } from './database.js';
import { readSettings } from './settings.js';

/** Seals everything in this service's schema again with the newest of the secret keys. The service may run meanwhile. */
await runCommand(SERVICE_NAME, async () => {
  const { databaseUrl, home, secretKey: envValue } = readSettings();
  return resealDatabase(databaseUrl, [dataKeyColumn(SCHEMA, createSecretBox(loadSecretKeys({ home, envValue })))]);
});
