// Built processes of resource-sharing on a PostgreSQL of their own that makes every commit durable.
import { fork } from 'node:child_process';
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiKey } from '@gatehouse/auth';
import { startEmbeddedPostgres } from '@gatehouse/persistence';
import pg from 'pg';

const MAIN = fileURLToPath(new URL('../../../apps/resource-sharing/dist/main.js', import.meta.url));
const SCHEMA = '-c search_path=resource_sharing';

/**
 * `query(text, values)` runs SQL in the service's schema; `urls` are those of its processes; `pids` too; `postgresPid` is the
 * server's; `end()` stops and removes everything.
 */
export async function startResourceSharing({ processes = 1, env = {} } = {}) {
  const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
  chmodSync(home, 0o711);
  const postgres = await startEmbeddedPostgres({ home });
  const databaseUrl = postgres.url('postgres');
  const secretKey = randomBytes(32);
  const environment = {
    NODE_ENV: 'production',
    GATEHOUSE_HOME: home,
    GATEHOUSE_SECRET_KEY: secretKey.toString('base64'),
    DATABASE_URL: databaseUrl,
    GATEHOUSE_ADMIN_PASSWORD: 'a-password-for-benchmarks',
    AUTO_MIGRATE: 'true',
    RESOURCE_SHARING_PORT: '0',
    API_RATE_LIMIT: '0',
    LOG_LEVEL: 'error',
    ...env,
  };
  const children = [];
  // Whatever becomes of the benchmark: nothing of this stays.
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL');
    if (postgres.pid) killQuietly(postgres.pid);
    rmSync(home, { recursive: true, force: true });
  });
  const urls = [];
  for (let index = 0; index < processes; index++) {
    const child = fork(MAIN, [], { env: environment, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    children.push(child);
    urls.push(`http://127.0.0.1:${(await ready(child)).port}`);
  }
  const pool = new pg.Pool({ connectionString: databaseUrl, options: SCHEMA, max: 4 });
  return {
    urls,
    databaseUrl,
    pids: children.map(({ pid }) => pid),
    postgresPid: postgres.pid,
    query: (text, values) => pool.query(text, values),
    connect: (max) => new pg.Pool({ connectionString: databaseUrl, options: SCHEMA, max }),
    personalKeys: (userIds) => insertKeys(pool, secretKey, userIds),
    secrets: (prefix, count) => createSecrets(secretKey, prefix, count),
    async end() {
      await pool.end();
      for (const child of children) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      await postgres.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function ready(child) {
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`resource-sharing ended with ${code}`)));
  ended.catch(() => {});
  for (;;) {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    if (message.type === 'ready') return message;
    if (message.type === 'failed') throw new Error(message.lines.join('\n'));
  }
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

function killQuietly(pid) {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It has ended by itself.
  }
}
