import { randomBytes } from 'node:crypto';
import { quoteIdentifier } from '@gatehouse/persistence';
import pg from 'pg';
import { inject } from 'vitest';
import type {} from './global-setup.js';

/** A database of its own for one test file. */
export interface TestDatabase extends AsyncDisposable {
  name: string;
  url: string;
  /** Ends the sessions that are left and drops the database. Call it in `afterAll`, after closing what uses it. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Prepares a database once per run and key (migrations, seed); every later one of that key is a fast copy. */
  template?: { key: string; prepare: (url: string) => Promise<unknown> };
}

/** Creates an empty database on the run's PostgreSQL. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const admin = inject('postgresUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(admin, async (client) => {
    const source =
      options.template === undefined ? 'template1' : await prepareTemplate(client, admin, options.template);
    const { rows } = await client.query<{ version: number }>(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    // A copy of files takes a quarter of the processor time of a copy of blocks, which is the default since there is a choice.
    const strategy = (rows[0]?.version ?? 0) >= 150_000 ? 'STRATEGY file_copy' : '';
    await client.query(`CREATE DATABASE ${quoteIdentifier(name)} TEMPLATE ${quoteIdentifier(source)} ${strategy}`);
  });
  const drop = async (): Promise<void> => {
    await asAdmin(admin, (client) => client.query(`DROP DATABASE IF EXISTS ${quoteIdentifier(name)} WITH (FORCE)`));
  };
  return { name, url: urlOfDatabase(admin, name), drop, [Symbol.asyncDispose]: drop };
}

let admins: pg.Pool | undefined;

/**
 * The files of a process take turns with one connection that stays open: one for each step of each file took longer to open than
 * to use. It keeps no process from ending.
 */
async function asAdmin<T>(url: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await (admins ??= openPool(url)).connect();
  let failed = true;
  try {
    const result = await work(client);
    failed = false;
    return result;
  } finally {
    // With the connection goes the lock that it may hold.
    client.release(failed);
  }
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 60_000, allowExitOnIdle: true });
  // A connection that breaks is replaced; without listeners it would end the process.
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function prepareTemplate(
  client: pg.PoolClient,
  admin: string,
  template: NonNullable<TestDatabaseOptions['template']>,
): Promise<string> {
  const name = `template_${template.key}`;
  // Test files run in several processes: one prepares, the others wait for it.
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate', [name]);
  if (rowCount === 0) {
    await client.query(`DROP DATABASE IF EXISTS ${quoteIdentifier(name)} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${quoteIdentifier(name)}`);
    await template.prepare(urlOfDatabase(admin, name));
    // Marked as a template last, so that a half-prepared one is never copied.
    await client.query(`ALTER DATABASE ${quoteIdentifier(name)} IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  }
  await client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]);
  return name;
}

function urlOfDatabase(admin: string, name: string): string {
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}
