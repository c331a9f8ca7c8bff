import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useAway } from '../api/use-away.js';
import { t } from '../messages/index.js';
import { useNarrow } from '../state/use-narrow.js';
import { SelectField } from './fields.js';
import { useRowDrag, type RowDrag } from './use-row-drag.js';
import { useScrollView } from './use-scroll-view.js';
import { visibleRange } from './visible-range.js';

export interface VirtualColumn<T> {
  id: string;
  head: string;
  cell: (row: T) => ComponentChildren;
  /** In pixels; at least as much for a column that grows. */
  width: number;
  /** Its share of the space that is left. */
  grow?: number;
  /** Of numbers. */
  right?: boolean;
  /** What the list's order calls it; a minus sign before it reverses the order. */
  sort?: string;
  /** The heading is for screen readers only. */
  quietHead?: boolean;
}

export interface RowMove<T> {
  /** @param to the place afterwards, from 0 */
  onMove: (from: number, to: number) => void;
  /** What the handle of a row is called. */
  label: (row: T) => string;
}

export interface VirtualTableProps<T> {
  caption: string;
  columns: readonly VirtualColumn<T>[];
  /** Undefined: not loaded yet. */
  rows: readonly T[] | undefined;
  rowKey: (row: T) => string | number;
  empty: ComponentChildren;
  /** What a row shows on a phone, instead of its cells. */
  card: (row: T) => ComponentChildren;
  /** Of each row and of each card, in pixels. */
  rowHeight?: number;
  cardHeight?: number;
  sort?: string;
  onSort?: (sort: string) => void;
  /** What a reader on a phone can order by, if that is not what the columns say. */
  orders?: readonly { head: string; sort?: string | undefined }[];
  rowClass?: (row: T) => string;
  /** The reader comes near the last row. */
  onEnd?: () => void;
  /** Which rows are drawn, from `first` up to and without `last`. */
  onView?: (first: number, last: number) => void;
  /** Lets the reader change the order. */
  move?: RowMove<T> | undefined;
}

const HANDLE_WIDTH = 40;

/**
 * A table of any length that scrolls on its own and draws only the rows that can be seen. All rows have one height. What
 * the reader looks at stays where it is when rows are added above.
 */
export function VirtualTable<T>(props: VirtualTableProps<T>) {
  const { caption, columns, rows, rowKey, empty, rowHeight = 49, cardHeight = 76, sort, onSort, onEnd, move } = props;
  const narrow = useNarrow();
  const away = useAway();
  const isWaiting = rows === undefined && !away;
  const height = narrow ? cardHeight : rowHeight;
  const { box, view } = useScrollView<HTMLDivElement>();
  const head = useRef<HTMLDivElement>(null);
  const count = rows?.length ?? 0;
  const { first, last } = visibleRange(view, height, count);
  const headHeight = (): number => head.current?.offsetHeight ?? 0;
  const onMove = move?.onMove ?? (() => undefined);
  const drag = useRowDrag({ box, headHeight, rowHeight: height, keys: move ? (rows ?? []).map(rowKey) : [], onMove });
  useKeptPlace(box, rows, rowKey, height);
  useEffect(() => props.onView?.(first, last), [first, last]);
  const keepFocus = useKeptFocus(box);
  const isNearEnd = count > 0 && last >= count;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, count]);
  const tracks = columns.map(({ width, grow }) => (grow ? `minmax(${width}px, ${grow}fr)` : `${width}px`));
  const grid = [...(move ? [`${HANDLE_WIDTH}px`] : []), ...(narrow ? ['minmax(0, 1fr)'] : tracks)].join(' ');
  const least = columns.reduce((sum, { width }) => sum + width, move ? HANDLE_WIDTH : 0);
  const shown = rows?.slice(first, last) ?? [];
  return (
    <>
      {narrow && sort !== undefined && onSort && (
        <SortField orders={props.orders ?? columns} sort={sort} onSort={onSort} />
      )}
      <div class={`virtual-table ${narrow ? 'narrow' : ''}`} ref={box} role="region" aria-label={caption} tabIndex={0}>
        <div
          role="table"
          aria-label={caption}
          aria-rowcount={count + 1}
          style={narrow ? {} : { minWidth: `${least}px` }}
        >
          <div class="virtual-head" role="rowgroup" ref={head}>
            <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: grid }}>
              {move && <HeadCell head={t('table.order')} isQuiet />}
              {columns.map((column) => (
                <HeadCell key={column.id} head={column.head} column={column} sort={sort} onSort={onSort} />
              ))}
            </div>
          </div>
          <div class="virtual-body" role="rowgroup" style={{ height: `${count * height}px` }}>
            {shown.map((row, index) => (
              <Row key={rowKey(row)} {...{ props, row, index: first + index, height, grid, narrow, drag, keepFocus }} />
            ))}
            {drag.held && <div class="drop-gap" style={{ transform: `translateY(${drag.held.gap * height - 1}px)` }} />}
          </div>
        </div>
        {count === 0 && (
          <p class={`virtual-empty ${isWaiting ? 'waiting' : ''}`}>
            {away ? t('errors.unreachable') : isWaiting ? t('common.loading') : empty}
          </p>
        )}
      </div>
    </>
  );
}

interface RowProps<T> {
  props: VirtualTableProps<T>;
  row: T;
  index: number;
  height: number;
  grid: string;
  narrow: boolean;
  drag: RowDrag;
  keepFocus: (key: string | number) => void;
}

function Row<T>({ props, row, index, height, grid, narrow, drag, keepFocus }: RowProps<T>) {
  const { columns, card, rowClass, rows, rowKey, move } = props;
  const isHeld = drag.held?.from === index;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      class={`${rowClass?.(row) ?? ''} ${isHeld ? 'held' : ''}`}
      style={{ gridTemplateColumns: grid, height: `${height}px`, transform: `translateY(${index * height}px)` }}
    >
      {move && (
        <div role="cell">
          <Handle {...{ move, row, index, drag }} rowKey={rowKey(row)} count={rows?.length ?? 0} onKey={keepFocus} />
        </div>
      )}
      {narrow ? (
        <div role="cell" class="virtual-card">
          {card(row)}
        </div>
      ) : (
        columns.map(({ id, cell, right }) => (
          <div key={id} role="cell" class={right ? 'right' : ''}>
            {cell(row)}
          </div>
        ))
      )}
    </div>
  );
}

interface HandleProps<T> {
  move: RowMove<T>;
  row: T;
  index: number;
  count: number;
  drag: RowDrag;
  rowKey: string | number;
  onKey: (key: string | number) => void;
}

/** What a row is moved by: dragged, or with the arrow keys, Home and End. */
function Handle<T>({ move, row, index, count, drag, rowKey, onKey }: HandleProps<T>) {
  const hint = useId();
  const press = (event: KeyboardEvent): void => {
    const targets: Record<string, number> = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: count - 1 };
    const to = targets[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0 || to >= count || to === index) return;
    onKey(rowKey);
    move.onMove(index, to);
  };
  return (
    <button
      type="button"
      class="quiet handle"
      aria-label={move.label(row)}
      aria-describedby={hint}
      data-key={rowKey}
      onPointerDown={(event) => drag.begin(event, index)}
      onKeyDown={press}
    >
      <span aria-hidden="true">⠿</span>
      <span id={hint} class="hidden">
        {t('table.moveHint')}
      </span>
    </button>
  );
}

interface HeadCellProps<T> {
  head: string;
  isQuiet?: boolean;
  column?: VirtualColumn<T>;
  sort?: string | undefined;
  onSort?: ((sort: string) => void) | undefined;
}

function HeadCell<T>({ head, isQuiet, column, sort, onSort }: HeadCellProps<T>) {
  const field = column?.sort;
  const order =
    field === undefined ? undefined : sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : 'none';
  return (
    <div role="columnheader" class={column?.right ? 'right' : ''} aria-sort={order}>
      {field === undefined || onSort === undefined ? (
        <span class={isQuiet || column?.quietHead ? 'hidden' : ''}>{head}</span>
      ) : (
        <button type="button" class="sort" onClick={() => onSort(order === 'descending' ? field : `-${field}`)}>
          {head}
          <span aria-hidden="true">{order === 'ascending' ? '▲' : order === 'descending' ? '▼' : ''}</span>
        </button>
      )}
    </div>
  );
}

interface SortFieldProps {
  orders: readonly { head: string; sort?: string | undefined }[];
  sort: string;
  onSort: (sort: string) => void;
}

/** On a phone there are no headings to press. */
function SortField({ orders, sort, onSort }: SortFieldProps) {
  const choices = orders.flatMap(({ head, sort: field }) =>
    field === undefined
      ? []
      : [
          { value: field, label: `${head} ▲` },
          { value: `-${field}`, label: `${head} ▼` },
        ],
  );
  // A list may begin in an order that none of its columns has.
  if (!choices.some(({ value }) => value === sort)) choices.unshift({ value: sort, label: t('table.defaultOrder') });
  return <SelectField label={t('table.sortBy')} hideLabel value={sort} choices={choices} onChange={onSort} />;
}

/** Scrolls by as much as was added or removed above the first row that can be seen. */
function useKeptPlace<T>(
  box: { current: HTMLElement | null },
  rows: readonly T[] | undefined,
  rowKey: (row: T) => string | number,
  height: number,
): void {
  const seen = useRef<{ key: string | number; index: number } | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    const before = seen.current;
    if (element === null || before === null || element.scrollTop < height) return;
    const index = rows?.findIndex((row) => rowKey(row) === before.key) ?? -1;
    if (index >= 0 && index !== before.index) element.scrollTop += (index - before.index) * height;
  }, [rows]);
  useLayoutEffect(() => {
    const index = Math.floor((box.current?.scrollTop ?? 0) / height);
    const row = rows?.[index];
    seen.current = row === undefined ? null : { key: rowKey(row), index };
  });
}

/** Keeps the focus on the handle of a row that moved by a key: the browser drops it from an element that changes its place. */
function useKeptFocus(box: { current: HTMLElement | null }): (key: string | number) => void {
  const held = useRef<string | null>(null);
  useEffect(() => {
    const element = box.current;
    const leave = ({ relatedTarget }: FocusEvent): void => {
      if (relatedTarget !== null) held.current = null;
    };
    element?.addEventListener('focusout', leave);
    return () => element?.removeEventListener('focusout', leave);
  }, []);
  useLayoutEffect(() => {
    if (held.current === null) return;
    const handle = box.current?.querySelector<HTMLElement>(`.handle[data-key="${CSS.escape(held.current)}"]`);
    if (handle && document.activeElement !== handle) handle.focus();
  });
  return (key) => (held.current = String(key));
}
