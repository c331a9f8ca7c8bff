import type { ComponentChildren } from 'preact';
import { useAway } from '../api/use-away.js';
import { t } from '../messages/index.js';

export interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  /** Of numbers. */
  right?: boolean;
  /** What the API's `sort` calls it. */
  sort?: string;
  /** Takes what the others leave. */
  grow?: boolean;
  /** The heading is for screen readers only. */
  quietHead?: boolean;
}

export interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[] | undefined;
  rowKey: (row: T) => string | number;
  empty: ComponentChildren;
  sort?: string;
  onSort?: (sort: string) => void;
  /** Extra class of a row. */
  rowClass?: (row: T) => string;
}

/**
 * A table whose rows become cards on a phone (`stacked` in parts.css). The roles are written out because browsers drop those
 * of a table whose parts are laid out as blocks.
 */
export function Table<T>({ caption, columns, rows, rowKey, empty, sort, onSort, rowClass }: TableProps<T>) {
  // Rows that could not be read are not the same as no rows.
  const away = useAway();
  const isWaiting = rows === undefined && !away;
  return (
    <div class="table" role="group" aria-label={caption} tabIndex={0}>
      <table class="stacked" role="table" aria-busy={isWaiting}>
        <caption class="hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <HeadCell key={column.head} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows?.map((row) => (
            <tr key={rowKey(row)} role="row" class={rowClass?.(row) ?? ''}>
              {columns.map(({ head, cell, right, grow, quietHead }) => (
                <td
                  key={head}
                  role="cell"
                  class={`${right ? 'right' : ''} ${grow ? 'grow' : ''}`}
                  data-label={quietHead ? undefined : head}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {(rows === undefined || rows.length === 0) && (
            <tr role="row">
              <td colSpan={columns.length} role="cell" class={`empty ${isWaiting ? 'waiting' : ''}`}>
                {away ? t('errors.unreachable') : isWaiting ? t('common.loading') : empty}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

interface HeadCellProps<T> {
  column: Column<T>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}

function HeadCell<T>({ column, sort, onSort }: HeadCellProps<T>) {
  const { head, right, quietHead, sort: field } = column;
  const order =
    field === undefined ? undefined : sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : 'none';
  return (
    <th scope="col" role="columnheader" class={right ? 'right' : ''} aria-sort={order}>
      {field === undefined || onSort === undefined ? (
        <span class={quietHead ? 'hidden' : ''}>{head}</span>
      ) : (
        <button type="button" class="sort" onClick={() => onSort(order === 'ascending' ? `-${field}` : field)}>
          {head}
          <span aria-hidden="true">{order === 'ascending' ? '▲' : order === 'descending' ? '▼' : ''}</span>
        </button>
      )}
    </th>
  );
}
