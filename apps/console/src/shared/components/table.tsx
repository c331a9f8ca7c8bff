import type { ComponentChildren } from 'preact';

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

/** A table that scrolls sideways on its own where the window is narrow. */
export function Table<T>({ caption, columns, rows, rowKey, empty, sort, onSort, rowClass }: TableProps<T>) {
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <HeadCell key={column.head} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map((row) => (
            <tr key={rowKey(row)} class={rowClass?.(row) ?? ''}>
              {columns.map(({ head, cell, right, grow }) => (
                <td key={head} class={`${right ? 'right' : ''} ${grow ? 'grow' : ''}`}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {rows?.length === 0 && (
            <tr>
              <td colSpan={columns.length} class="empty">
                {empty}
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
    <th scope="col" class={right ? 'right' : ''} aria-sort={order}>
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
