/** The part of TypeORM's `EntityManager` that is needed. */
interface Queries {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}

/** An id for a row that is inserted with it, for texts that are bound to their row. @param table as the session finds it */
export async function takeRowId(tx: Queries, table: string): Promise<number> {
  const rows = await tx.query(`SELECT nextval(pg_get_serial_sequence($1, 'id'))::float8 AS id`, [table]);
  const [row] = rows as { id: number }[];
  if (row === undefined) throw new Error(`${table} has no sequence`);
  return row.id;
}
