import { pgPool } from '@gatehouse/persistence';
import { mayPass, sqlStateOf } from '@gatehouse/postgres';
import type { DataSource, EntityManager } from 'typeorm';

/** A SELECT that may call functions that write. */
export interface Statement {
  /** The name under which each connection prepares it. */
  readonly name: string;
  readonly text: string;
}

/** The rows of a statement: in `tx`, or prepared and in its own transaction. */
export async function runStatement<Row extends object>(
  dataSource: DataSource,
  tx: EntityManager | undefined,
  { name, text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  if (tx !== undefined) return tx.query<Row[]>(text, values);
  const client = await pgPool(dataSource).connect();
  let isBroken = true;
  try {
    const { rows } = await client.query<Row>({ name, text, values });
    isBroken = false;
    return rows;
  } catch (error) {
    isBroken = sqlStateOf(error) === '' || mayPass(error);
    throw error;
  } finally {
    // The pool's own `query` closes the connection after every error: each refused transfer would cost a new one.
    client.release(isBroken);
  }
}
