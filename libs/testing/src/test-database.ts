import { randomBytes } from 'node:crypto';
import { quoteIdentifier, withClient } from '@gatehouse/persistence';
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
  const source = options.template === undefined ? 'template1' : await prepareTemplate(admin, options.template);
  await withClient(admin, async (client) => {
    const { rows } = await client.query<{ version: number }>(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    // A copy of files takes a quarter of the processor time of a copy of blocks, which is the default since there is a choice.
    const strategy = (rows[0]?.version ?? 0) >= 150_000 ? 'STRATEGY file_copy' : '';
    await client.query(`CREATE DATABASE ${quoteIdentifier(name)} TEMPLATE ${quoteIdentifier(source)} ${strategy}`);
  });
  const drop = async (): Promise<void> => {
    await withClient(admin, (client) => client.query(`DROP DATABASE IF EXISTS ${quoteIdentifier(name)} WITH (FORCE)`));
  };
  return { name, url: urlOfDatabase(admin, name), drop, [Symbol.asyncDispose]: drop };
}

async function prepareTemplate(admin: string, template: NonNullable<TestDatabaseOptions['template']>): Promise<string> {
  const name = `template_${template.key}`;
  await withClient(admin, async (client) => {
    // Test files run in several processes: one prepares, the others wait for it.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate', [name]);
    if (rowCount !== 0) return;
    await client.query(`DROP DATABASE IF EXISTS ${quoteIdentifier(name)} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${quoteIdentifier(name)}`);
    await template.prepare(urlOfDatabase(admin, name));
    // Marked as a template last, so that a half-prepared one is never copied.
    await client.query(`ALTER DATABASE ${quoteIdentifier(name)} IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  });
  return name;
}

function urlOfDatabase(admin: string, name: string): string {
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}
