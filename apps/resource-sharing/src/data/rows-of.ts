/** A row as SQL returns it. */
export type Row = Record<string, unknown>;

/** A data source or a transaction of TypeORM. */
export interface SqlSource {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** The rows of a statement that returns some, whatever it does: TypeORM wraps those of UPDATE and DELETE. */
export async function rowsOf(source: SqlSource, sql: string, parameters: unknown[] = []): Promise<Row[]> {
  const result = (await source.query(sql, parameters)) as Row[] | [Row[], number];
  return Array.isArray(result[0]) ? result[0] : (result as Row[]);
}
