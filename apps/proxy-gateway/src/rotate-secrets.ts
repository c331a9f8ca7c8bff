import 'reflect-metadata';
import { sealedColumns } from '@gatehouse/auth';
import {
  createSecretBox,
  dataKeyColumn,
  loadSecretKeys,
  resealDatabase,
  rowPlace,
  type SealedColumn,
} from '@gatehouse/persistence';
import { runCommand } from '@gatehouse/platform';
import { SECRET_PREFERENCES } from './preferences/preference-definitions.js';
import { SERVICE } from './service.js';

/** Seals everything in this service's schema again with the newest of the secret keys. The service may run meanwhile. */
await runCommand(SERVICE.name, async () => {
  const { databaseUrl, home, secretKey: envValue } = SERVICE.readSettings();
  const box = createSecretBox(loadSecretKeys({ home, envValue }));
  const byRow = (name: string, column: string): SealedColumn => ({
    table: `${SERVICE.schema}.${name}`,
    key: ['id'],
    column,
    box,
    place: ({ id }) => rowPlace({ table: name, id: Number(id) }),
    formerPlace: name,
  });
  const secretPreferences = [...SECRET_PREFERENCES].map((name) => `'${name}'`).join(', ');
  return resealDatabase(databaseUrl, [
    byRow('subscriptions', 'sealed_url'),
    byRow('nodes', 'config'),
    byRow('rule_sets', 'sealed_url'),
    byRow('publication_templates', 'content'),
    byRow('proxy_users', 'password'),
    {
      table: `${SERVICE.schema}.settings`,
      key: ['key'],
      column: 'value',
      box,
      place: ({ key }) => `settings:${String(key)}`,
      // Pairs with a colon are from before they were sealed.
      where: `key IN (${secretPreferences}) AND value <> '' AND position(':' IN value) = 0`,
    },
    ...sealedColumns(SERVICE.schema, box, { signingKeys: true }),
    dataKeyColumn(SERVICE.schema, box),
  ]);
});
