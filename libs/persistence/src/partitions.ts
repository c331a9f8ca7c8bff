import { quoteIdentifier } from './data-source.js';

/** What runs a partition statement: a pool, a client or a transaction. */
export interface PartitionSql {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** A range partition: the table `name` of its `parent`. */
export interface RangePartition {
  parent: string;
  name: string;
  from: Date;
  /** Exclusive. */
  to: Date;
  /** The default partition, if the parent has one: rows in it that belong to this part move there. */
  rowsFrom?: { table: string; column: string };
}

/**
 * Creates a partition without blocking the users of its parent: a separate table is attached, which conflicts neither
 * with readers nor with writers, and a default partition is locked only while its rows move. Gives up after two seconds
 * if another transaction is in the way. Runs inside a transaction, whose `lock_timeout` it sets.
 */
export async function addRangePartition(sql: PartitionSql, partition: RangePartition): Promise<void> {
  const { parent, name, from, to, rowsFrom } = partition;
  const [whole, part] = [quoteIdentifier(parent), quoteIdentifier(name)];
  const [start, end] = [`'${from.toISOString()}'`, `'${to.toISOString()}'`];
  await sql.query(`SET LOCAL lock_timeout = '2s'`);
  await sql.query(`CREATE TABLE ${part} (LIKE ${whole} INCLUDING ALL)`);
  if (rowsFrom !== undefined) {
    const [rest, column] = [quoteIdentifier(rowsFrom.table), quoteIdentifier(rowsFrom.column)];
    // A row that arrived between the move and the attachment would make the attachment fail.
    await sql.query(`LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE`);
    await sql.query(`WITH moved AS (DELETE FROM ${rest} WHERE ${column} >= ${start} AND ${column} < ${end} RETURNING *)
      INSERT INTO ${part} SELECT * FROM moved`);
  }
  await sql.query(`ALTER TABLE ${whole} ATTACH PARTITION ${part} FOR VALUES FROM (${start}) TO (${end})`);
}
