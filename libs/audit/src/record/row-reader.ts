import type { DataSource } from 'typeorm';
import type { Fields } from './audit-rules.js';

/** The table of a resource. */
export interface TableOfResource {
  /** With its schema if that is not the connection's. */
  table: string;
  /** The column with the resource's id. */
  key: string;
  /** Whether ids are numbers. Default: true for the column `id`. */
  numeric?: boolean;
  /** A table with at most one row for each of these, whose columns are also shown, and its column with the id. */
  options?: readonly { table: string; key: string }[];
}

/** The row as PostgreSQL returns it, with any columns that the table may gain; null if there is none. */
export async function readRow(
  dataSource: DataSource,
  { table, key, numeric = key === 'id', options = [] }: TableOfResource,
  id: string,
): Promise<Fields | null> {
  if (numeric && !/^\d{1,15}$/.test(id)) return null;
  const more = options.map(
    (each) =>
      ` || coalesce((SELECT to_jsonb(more) - '${each.key}' FROM ${each.table} more WHERE more.${each.key} = found.id), '{}')`,
  );
  const [found]: { row: Fields }[] = await dataSource.query(
    `SELECT to_jsonb(found)${more.join('')} AS row FROM ${table} found WHERE found.${key} = $1`,
    [id],
  );
  return found?.row ?? null;
}

/** The fields that people set: without ids, times and hashes that the service manages itself. */
export function withoutColumns(row: Fields, own: RegExp): Fields {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !own.test(column)));
}
