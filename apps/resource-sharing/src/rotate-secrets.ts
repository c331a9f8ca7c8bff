import 'reflect-metadata';
import { secondFactorColumn } from '@gatehouse/auth';
import { createSecretBox, dataKeyColumn, loadSecretKeys, resealDatabase } from '@gatehouse/persistence';
import { runCommand } from '@gatehouse/platform';
import { SERVICE } from './service.js';

/** Seals everything in this service's schema again with the newest of the secret keys. The service can keep running. */
await runCommand(SERVICE.name, async () => {
  const { databaseUrl, home, secretKey: envValue } = SERVICE.readSettings();
  const box = createSecretBox(loadSecretKeys({ home, envValue }));
  return resealDatabase(databaseUrl, [dataKeyColumn(SERVICE.schema, box), secondFactorColumn(SERVICE.schema, box)]);
});
