import { hkdfSync } from 'node:crypto';
import type { SecretBox } from '@gatehouse/net';
import type { QueryRunner } from 'typeorm';
import type { SealedColumn } from './reseal.js';

/** The part of a pool or DataSource that this needs. */
interface Queries {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

export interface DataKeySource {
  /** Runs SQL in the service's schema and resolves to rows. */
  queries: Queries;
  box: SecretBox;
  /** All secret keys, newest first. */
  secretKeys: readonly Buffer[];
  name: string;
  /** The RFC 5869 `info` with which the key was derived before it was a row, so that existing data stays readable. */
  purpose: string;
}

/**
 * Keys that stay the same when the secret key changes, because what they made cannot be made again: each one sealed.
 */
export function createDataKeyTable(runner: QueryRunner): Promise<unknown> {
  return runner.query(`CREATE TABLE data_keys (
    name text NOT NULL,
    sealed_key text NOT NULL,
    CONSTRAINT data_keys_pk PRIMARY KEY (name)
  )`);
}

/** For a change of the secret key. `schema`: where the service has its tables. */
export function dataKeyColumn(schema: string, box: SecretBox): SealedColumn {
  const place = ({ name }: Record<string, unknown>): string => placeOf(String(name));
  return { table: `${schema}.data_keys`, key: ['name'], column: 'sealed_key', box, place };
}

function placeOf(name: string): string {
  return `data_keys:${name}`;
}

/**
 * Reads a data key, or creates it from the oldest of the secret keys. Replicas that start together agree on one.
 * @throws SecretBoxError with another secret key
 */
export async function loadDataKey({ queries, box, secretKeys, name, purpose }: DataKeySource): Promise<Buffer> {
  const place = placeOf(name);
  const read = async (): Promise<string | undefined> => {
    const rows = (await queries.query('SELECT sealed_key FROM data_keys WHERE name = $1', [name])) as unknown;
    return (rows as { sealed_key: string }[])[0]?.sealed_key;
  };
  let sealed = await read();
  if (sealed === undefined) {
    const oldest = secretKeys.at(-1);
    if (oldest === undefined) throw new RangeError('There is no secret key.');
    const derived = Buffer.from(hkdfSync('sha256', oldest, '', purpose, 32));
    await queries.query('INSERT INTO data_keys (name, sealed_key) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
      name,
      box.seal(derived.toString('base64'), place),
    ]);
    sealed = await read();
  }
  if (sealed === undefined) throw new Error(`The data key ${name} was not kept.`);
  return Buffer.from(box.open(sealed, place), 'base64');
}
