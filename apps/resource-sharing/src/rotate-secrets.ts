import 'reflect-metadata';
import { secondFactorColumn } from '@gatehouse/auth';
import { createSecretBox, dataKeyColumn, loadSecretKeys, resealDatabase, withClient } from '@gatehouse/persistence';
import { runCommand } from '@gatehouse/platform';
import { webhookSecretColumn } from '@gatehouse/webhooks';
import { identityKeyColumn, storeIdentityKey } from './identity/new-identity-key.js';
import { SERVICE } from './service.js';
import { WEBHOOK_SETUP } from './webhooks/webhook-setup.js';

/** Seals everything in this service's schema again with the newest of the secret keys. The service can keep running. */
await runCommand(SERVICE.name, async () => {
  const { databaseUrl, home, secretKey: envValue } = SERVICE.readSettings();
  const box = createSecretBox(loadSecretKeys({ home, envValue }));
  const lines = await resealDatabase(databaseUrl, [
    dataKeyColumn(SERVICE.schema, box),
    secondFactorColumn(SERVICE.schema, box),
    identityKeyColumn(SERVICE.schema, box),
    webhookSecretColumn(WEBHOOK_SETUP, box),
  ]);
  // Whoever knew the former secret key could know what it sealed.
  await withClient(databaseUrl, (client) => storeIdentityKey(client, box, `${SERVICE.schema}.identity_keys`));
  return lines;
});
