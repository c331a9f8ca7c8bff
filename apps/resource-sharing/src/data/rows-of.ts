/** A data source or a transaction of TypeORM. */
export interface SqlSource {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/**
 * The rows that a statement returns. `R` is their shape: the caller names it once, here, and nobody casts a column
 * later. TypeORM wraps the rows of UPDATE and DELETE in a pair with their count; this unwraps them.
 */
export async function rowsOf<R extends object>(
  source: SqlSource,
  sql: string,
  parameters: unknown[] = [],
): Promise<R[]> {
  const result = (await source.query(sql, parameters)) as R[] | [R[], number];
  return Array.isArray(result[0]) ? result[0] : (result as R[]);
}

/** The row of a statement that always returns one: a count, a lock, an INSERT with RETURNING. @throws when there is none */
export async function oneRow<R extends object>(source: SqlSource, sql: string, parameters: unknown[] = []): Promise<R> {
  const [row] = await rowsOf<R>(source, sql, parameters);
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
