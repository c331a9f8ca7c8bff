import { pgPool } from '@gatehouse/persistence';
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
  const { rows } = await pgPool(dataSource).query<Row>({ name, text, values });
  return rows;
}
