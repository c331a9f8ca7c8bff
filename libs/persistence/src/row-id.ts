/** The part of TypeORM's `EntityManager` that is needed. */
interface Queries {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}

/** An id for a row that is inserted with it, for texts that are bound to their row. @param table as the session finds it */
export async function takeRowId(tx: Queries, table: string): Promise<number> {
  const [id] = await takeRowIds(tx, table, 1);
  if (id === undefined) throw new Error(`${table} has no sequence`);
  return id;
}

/** As many ids as rows are inserted with them, in ascending order. */
export async function takeRowIds(tx: Queries, table: string, count: number): Promise<number[]> {
  const rows = await tx.query(
    `SELECT nextval(pg_get_serial_sequence($1, 'id'))::float8 AS id FROM generate_series(1, $2) ORDER BY id`,
    [table, count],
  );
  return (rows as { id: number }[]).map(({ id }) => id);
}
