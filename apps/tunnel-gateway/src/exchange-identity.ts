import 'reflect-metadata';
import { createSecretBox, loadSecretKeys } from '@gatehouse/persistence';
import { runCommand } from '@gatehouse/platform';
import { SERVICE_NAME } from './database.js';
import { EdgeDatabase } from './common/edge-database.js';
import { exchangeIdentity, prepareIdentity } from './edge-host/server-identity.js';
import { readSettings } from './settings.js';

const USAGE = 'Say what to do: prepare (makes the next key), or exchange (puts it in the place of the one in use).';

/** Exchanges the key that agents know the gateway by. The service and its edges take it over when they are started again. */
await runCommand(SERVICE_NAME, async () => {
  const { databaseUrl, home, secretKey: envValue } = readSettings();
  const [step] = process.argv.slice(2);
  const queries = new EdgeDatabase(databaseUrl);
  try {
    if (step === 'prepare') {
      const box = createSecretBox(loadSecretKeys({ home, envValue }));
      const [current, next] = await prepareIdentity({ queries, box });
      return [`key in use: ${current}`, `next key: ${next}`];
    }
    if (step !== 'exchange') throw new Error(USAGE);
    const now = await exchangeIdentity({ queries });
    if (now === null) throw new Error('There is no next key: run prepare first, and give agents time to learn it.');
    return [`key in use: ${now}`];
  } finally {
    await queries.close();
  }
});
