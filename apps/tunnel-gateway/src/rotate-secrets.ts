import 'reflect-metadata';
import { sealedColumns, secondFactorColumn } from '@gatehouse/auth';
import {
  createSecretBox,
  dataKeyColumn,
  loadSecretKeys,
  resealDatabase,
  type SealedColumn,
} from '@gatehouse/persistence';
import { runCommand } from '@gatehouse/platform';
import { webhookSecretColumn } from '@gatehouse/webhooks';
import {
  accountPlace,
  certificatePlace,
  certificateSecret,
  createKeyBox,
  NO_PLACE,
  policyPlace,
} from './common/key-box.js';
import { policyBoxOf } from './common/policy-secrets.js';
import { SERVER_IDENTITY_PLACE } from './edge-host/server-identity.js';
import { visitorSecretOf } from './edge-host/start-edge.js';
import { SERVICE } from './service.js';
import { WEBHOOK_SETUP, WEBHOOKS_TABLE } from './webhooks/webhook-setup.js';

/** Seals all secrets of this service again with the newest key. The service and its edges may be running. */
await runCommand(SERVICE.name, async () => {
  const { databaseUrl, home, secretKey: envValue } = SERVICE.readSettings();
  const keys = loadSecretKeys({ home, envValue });
  const box = createSecretBox(keys);
  const certificates = createKeyBox(keys.map(certificateSecret));
  const policies = policyBoxOf(visitorSecretOf(keys));
  const of = (name: string, key: string, column: string): Omit<SealedColumn, 'box'> => ({
    table: `${SERVICE.schema}.${name}`,
    key: [key],
    column,
  });
  return resealDatabase(databaseUrl, [
    secondFactorColumn(SERVICE.schema, box),
    { ...webhookSecretColumn(WEBHOOK_SETUP, box), formerPlace: WEBHOOKS_TABLE },
    { ...of('server_identity', 'id', 'sealed_key'), box, place: () => SERVER_IDENTITY_PLACE },
    {
      ...of('certificates', 'host_id', 'sealed_key'),
      box: certificates,
      place: ({ host_id: hostId }) => certificatePlace(Number(hostId)),
      formerPlace: NO_PLACE,
    },
    {
      ...of('acme_accounts', 'directory', 'sealed_key'),
      box: certificates,
      place: ({ directory }) => accountPlace(String(directory)),
      formerPlace: NO_PLACE,
    },
    {
      ...of('policy_options', 'policy_id', 'sealed_secret'),
      box: policies,
      place: ({ policy_id: policyId }) => policyPlace(Number(policyId)),
      formerPlace: NO_PLACE,
    },
    ...sealedColumns(SERVICE.schema, box, { signingKeys: false }),
    dataKeyColumn(SERVICE.schema, box),
  ]);
});
