import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { bilingual, BilingualError } from '@gatehouse/i18n';
import { OLDEST_POSTGRES } from './embedded-postgres/oldest-postgres.js';
import { withClient, type PgClient } from './pg-client.js';

const NOTIFY_EVERY_MS = 250;
/** Number of notifications that are sent. A busy server must not be mistaken for one that drops them. */
const TRIES = { ofServer: 40, ofPooler: 12 };

/** The database server is unusable, whatever is in the database; the text is for operators. */
export class DatabaseServerError extends BilingualError {
  override readonly name = 'DatabaseServerError';
}

/** @throws DatabaseServerError for a PostgreSQL that is too old, and for a pooler that does not keep sessions. */
export async function checkDatabaseServer(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await checkVersion(client);
    await checkSession(client, url);
  });
}

async function checkVersion(client: PgClient): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number`,
  );
  const [{ version, number } = { version: 'unknown', number: 0 }] = rows;
  if (Math.floor(number / 10_000) >= OLDEST_POSTGRES) return;
  throw new DatabaseServerError(
    bilingual(
      `DATABASE_URL: the database is PostgreSQL ${version}, and PostgreSQL ${OLDEST_POSTGRES} or later is needed`,
      `DATABASE_URL: 数据库是 PostgreSQL ${version}，需要 PostgreSQL ${OLDEST_POSTGRES} 或更高版本`,
    ),
  );
}

/**
 * Listens on one connection and notifies from another, like the services. A pooler in transaction mode accepts the
 * LISTEN without an error, but no notification ever arrives.
 */
async function checkSession(listener: PgClient, url: string): Promise<void> {
  const channel = `gatehouse_check_${randomBytes(8).toString('hex')}`;
  const arrived = new Promise<true>((resolve) => {
    listener.on('notification', (message) => message.channel === channel && resolve(true));
  });
  await listener.query(`LISTEN ${channel}`);
  const tries = (await isPooled(listener)) ? TRIES.ofPooler : TRIES.ofServer;
  const arrives = await withClient(url, async (notifier) => {
    for (let count = 0; count < tries; count++) {
      await notifier.query(`NOTIFY ${channel}`);
      if (await Promise.race([arrived, delay(NOTIFY_EVERY_MS, false)])) return true;
    }
    await notifier.query(`UNLISTEN ${channel}`);
    return false;
  });
  if (arrives) return;
  throw new DatabaseServerError(
    bilingual(
      'DATABASE_URL: notifications (LISTEN) do not arrive, so this is a pooler in transaction mode. Let it pool sessions ' +
        '(pool_mode = session in PgBouncer), or name the database itself',
      'DATABASE_URL: 收不到通知（LISTEN），说明这是事务模式的连接池。请改用会话模式' +
        '（PgBouncer 的 pool_mode = session），或填写数据库本身的地址',
    ),
  );
}

/** PgBouncer invents the process id that a server sends at the start of a connection. */
async function isPooled(client: PgClient): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  // Missing in the types.
  const { processID: named } = client as unknown as { processID: number | null };
  return rows[0]?.pid !== named;
}
