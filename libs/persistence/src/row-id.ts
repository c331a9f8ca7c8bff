/** The part of TypeORM's `EntityManager` that is needed. */
interface Queries {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}

/**
 * Reserves the id of a row before it is inserted, because text that is sealed for a row needs its id first. `table` can
 * be unqualified, as in a statement.
 */
export async function takeRowId(tx: Queries, table: string): Promise<number> {
  const [id] = await takeRowIds(tx, table, 1);
  if (id === undefined) throw new Error(`${table} has no sequence`);
  return id;
}

/** The same for `count` rows, in ascending order. */
export async function takeRowIds(tx: Queries, table: string, count: number): Promise<number[]> {
  const rows = await tx.query(
    `SELECT nextval(pg_get_serial_sequence($1, 'id'))::float8 AS id FROM generate_series(1, $2) ORDER BY id`,
    [table, count],
  );
  return (rows as { id: number }[]).map(({ id }) => id);
}
