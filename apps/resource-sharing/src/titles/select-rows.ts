/** A pool or client of pg, or a transaction of TypeORM. */
export interface SqlRunner {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** The rows of a SELECT, or of any statement that TypeORM takes for one because it starts with WITH or INSERT. */
export async function selectRows<Row>(runner: SqlRunner, sql: string, parameters: unknown[]): Promise<Row[]> {
  const result = await runner.query(sql, parameters);
  return (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as Row[];
}
