import type { DataSource } from 'typeorm';
import type { Fields } from './audit-rules.js';

/** Where a resource lives. */
export interface TableOfResource {
  /** With its schema where that is not the connection's. */
  table: string;
  /** The column that the resource's id is found in. */
  key: string;
  /** Whether ids are numbers. Default: those of the column `id` are. */
  numeric?: boolean;
  /** A table of one row at most for each of these, whose columns are shown as well, and its column of the id. */
  options?: { table: string; key: string };
}

/** The row as PostgreSQL has it, with whatever columns the table gains; null where there is none. */
export async function readRow(
  dataSource: DataSource,
  { table, key, numeric = key === 'id', options }: TableOfResource,
  id: string,
): Promise<Fields | null> {
  if (numeric && !/^\d{1,15}$/.test(id)) return null;
  const more = options
    ? ` || coalesce((SELECT to_jsonb(more) - '${options.key}' FROM ${options.table} more WHERE more.${options.key} = found.id), '{}')`
    : '';
  const [found]: { row: Fields }[] = await dataSource.query(
    `SELECT to_jsonb(found)${more} AS row FROM ${table} found WHERE found.${key} = $1`,
    [id],
  );
  return found?.row ?? null;
}

/** The fields that people set: without ids, times and hashes that the service keeps for itself. */
export function withoutColumns(row: Fields, own: RegExp): Fields {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !own.test(column)));
}
