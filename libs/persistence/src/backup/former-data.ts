import { bilingual, type Bilingual } from '@gatehouse/i18n';
import { quoteIdentifier } from '../data-source.js';
import { withClient, type PgConnection } from '../pg-client.js';
import { BackupError } from './backup-header.js';
import { qualified, readTables } from './catalogue.js';

const PREFIX = 'gatehouse_former_';
/** Job queues refer to the replaced data, so they are dropped; services create the schema again. */
const QUEUES_SCHEMA = 'bullmq';

/** Rows by `schema.table`. */
export type RowCounts = ReadonlyMap<string, number>;

/** @throws BackupError if a session of the given services is connected to the database. */
export async function refuseUsers(client: PgConnection, services: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY 1`,
  );
  const users = services.filter((service) => rows.some(({ name }) => name?.startsWith(service)));
  if (users.length > 0) throw inUse(bilingual(users.join(', '), users.join('、')));
}

/** Locks every table exclusively. @throws BackupError when a session uses one. */
export async function lockTables(client: PgConnection, schemas: readonly string[]): Promise<void> {
  const tables = await readTables(client, schemas);
  if (tables.length === 0) return;
  try {
    await client.query(`LOCK TABLE ${tables.map(qualified).join(', ')} IN ACCESS EXCLUSIVE MODE`);
  } catch (cause) {
    if ((cause as { code?: string }).code !== '55P03') throw cause;
    throw inUse(bilingual('another program', '其他程序'), cause);
  }
}

function inUse(who: Bilingual, cause?: unknown): BackupError {
  return new BackupError(
    `The database is in use (${who.en}): stop the services before restoring.`,
    `数据库正在使用中（${who['zh-CN']}）：请先停止服务再恢复。`,
    { cause },
  );
}

export async function countRows(client: PgConnection, schemas: readonly string[]): Promise<RowCounts> {
  const counts = new Map<string, number>();
  for (const table of await readTables(client, schemas)) {
    const { rows } = await client.query<{ count: string }>(`SELECT count(*)::text AS count FROM ${qualified(table)}`);
    counts.set(`${table.schema}.${table.name}`, Number(rows[0]?.count ?? 0));
  }
  return counts;
}

/** Renames the schemas and the job queues; a rollback restores their names. */
export async function setAside(client: PgConnection, schemas: readonly string[]): Promise<void> {
  const all = [...schemas, QUEUES_SCHEMA];
  await dropLeftovers(client, all);
  for (const name of await existing(client, all)) {
    await client.query(`ALTER SCHEMA ${quoteIdentifier(name)} RENAME TO ${quoteIdentifier(aside(name))}`);
  }
}

/** Drops the renamed schemas in small steps: each partition and index takes a place in the server's table of locks. */
export async function clearAway(url: string, schemas: readonly string[]): Promise<void> {
  const all = [...schemas, QUEUES_SCHEMA];
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ schema: string; name: string }>(
      `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = ANY($1) AND c.relispartition AND c.relkind = 'r'`,
      [await existing(client, all.map(aside))],
    );
    for (const partition of rows) await client.query(`DROP TABLE ${qualified(partition)}`);
    await dropLeftovers(client, all);
  });
}

function aside(schema: string): string {
  return PREFIX + schema;
}

/** Those of this restore, or of one that ended between its commit and its cleanup. */
async function dropLeftovers(client: PgConnection, schemas: readonly string[]): Promise<void> {
  for (const name of await existing(client, schemas.map(aside))) {
    await client.query(`DROP SCHEMA ${quoteIdentifier(name)} CASCADE`);
  }
}

async function existing(client: PgConnection, schemas: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY($1) ORDER BY 1',
    [schemas],
  );
  return rows.map(({ name }) => name);
}
