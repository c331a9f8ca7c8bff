import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional } from 'class-validator';

/** A sort key of a list: an expression over the table as `row` that is never null. */
export interface SortKey {
  sql: string;
  kind: 'text' | 'integer';
}

export type SortKeys = Readonly<Record<string, SortKey>>;

/** How a list is sorted; rows with equal values are sorted by id. */
export interface Order extends SortKey {
  /** As requested. */
  name: string;
  /** Of the list, or `id`. */
  key: string;
  descending: boolean;
}

/** Case-insensitive. */
export const byText = (column: string): SortKey => ({ sql: `lower(coalesce(${column}, ''))`, kind: 'text' });
export const byNumber = (column: string): SortKey => ({ sql: `coalesce(${column}, 0)`, kind: 'integer' });
/** Microseconds since the epoch; rows without a time come first. */
export const byTime = (column: string): SortKey => ({
  sql: `coalesce((extract(epoch FROM ${column}) * 1000000)::bigint, 0)`,
  kind: 'integer',
});
/** For every table with these columns. */
export const TIMES = { created_at: byTime('row.created_at'), updated_at: byTime('row.updated_at') } as const;

const BY_ID: SortKey = { sql: 'row.id', kind: 'integer' };

/** One of the keys or `id`, prefixed with `-` for descending order. */
export function SortedBy(keys: SortKeys): PropertyDecorator {
  const names = ['id', ...Object.keys(keys)];
  return applyDecorators(IsOptional(), IsIn(names.flatMap((name) => [name, `-${name}`])));
}

/** `name` was validated before. */
export function orderOf(name: string, keys: SortKeys): Order {
  const descending = name.startsWith('-');
  const key = descending ? name.slice(1) : name;
  return { name, key, descending, ...(keys[key] ?? BY_ID) };
}

/**
 * Case-insensitive search in these columns. Not ILIKE, which takes five times as long per row, and whose estimated
 * selectivity makes the planner miss early stops at a full page.
 */
export function containing(
  looked: string,
  columns: readonly string[],
): { sql: string; parameters: { looked: string } } {
  const sql = columns.map((column) => `strpos(lower(${column}), lower(:looked)) > 0`).join(' OR ');
  return { sql, parameters: { looked } };
}
