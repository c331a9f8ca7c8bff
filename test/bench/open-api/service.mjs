// Built processes of resource-sharing on a PostgreSQL of their own that makes every commit durable.
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { createApiKey } from '@gatehouse/auth';
import pg from 'pg';
import { startService, startWorkplace } from '../services/built-service.mjs';

const SCHEMA = '-c search_path=resource_sharing';

/**
 * `query(text, values)` runs SQL in the service's schema; `urls` are those of its processes; `pids` too; `postgresPid` is the
 * server's; `end()` stops and removes everything.
 */
export async function startResourceSharing({ processes = 1, env = {} } = {}) {
  const workplace = await startWorkplace();
  const { databaseUrl, postgresPid } = workplace;
  const secretKey = randomBytes(32);
  const environment = {
    GATEHOUSE_SECRET_KEY: secretKey.toString('base64'),
    GATEHOUSE_ADMIN_PASSWORD: 'a-password-for-benchmarks',
    RESOURCE_SHARING_PORT: '0',
    API_RATE_LIMIT: '0',
    ...env,
  };
  const services = [];
  while (services.length < processes) {
    services.push(await startService('resource-sharing', workplace, { env: environment }));
  }
  const pool = new pg.Pool({ connectionString: databaseUrl, options: SCHEMA, max: 4 });
  return {
    urls: services.map(({ base }) => base),
    databaseUrl,
    pids: services.map(({ pid }) => pid),
    postgresPid,
    query: (text, values) => pool.query(text, values),
    connect: (max) => new pg.Pool({ connectionString: databaseUrl, options: SCHEMA, max }),
    personalKeys: (userIds) => insertKeys(pool, secretKey, userIds),
    secrets: (prefix, count) => createSecrets(secretKey, prefix, count),
    async end() {
      await pool.end();
      for (const service of services) await service.stop();
      await workplace.end();
    },
  };
}

/** One personal key with every scope for each user, hashed as the service does. */
async function insertKeys(pool, secretKey, userIds) {
  const secrets = createSecrets(secretKey, 'hp_', userIds.length);
  await pool.query(
    `INSERT INTO credentials (kind, user_id, name, secret_hash, prefix, last_four, scopes)
     SELECT 'personal', made.user_id, 'bench', made.hash, 'hp_', 'last', '{meta,query,unlock,write,vip}'
     FROM unnest($1::bigint[], $2::bytea[]) AS made (user_id, hash)`,
    [userIds, secrets.map(({ hash }) => hash)],
  );
  return secrets.map(({ text }) => text);
}

/** Secrets and the hashes under which the service keeps them. */
function createSecrets(secretKey, prefix, count) {
  const pepper = Buffer.from(hkdfSync('sha256', secretKey, '', 'gatehouse resource-sharing credentials', 32));
  return Array.from({ length: count }, () => {
    const text = createApiKey(prefix);
    return { text, hash: createHmac('sha256', pepper).update(text).digest() };
  });
}
