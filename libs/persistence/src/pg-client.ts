import pg from 'pg';
import { KEEP_ALIVE, poolTypes } from '@gatehouse/postgres';

export type PgClient = pg.Client;

/** Any single connection: a separate one, or one of a pool. */
export type PgConnection = pg.ClientBase;

/** Opens one connection for a piece of work and always closes it afterwards. */
export async function withClient<T>(url: string, work: (client: PgClient) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    ...KEEP_ALIVE,
    types: poolTypes,
  });
  // A connection that breaks fails the running query too; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
