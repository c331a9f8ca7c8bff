import type { ComponentChildren } from 'preact';
import { useScrollView } from './use-scroll-view.js';
import { visibleRange } from './visible-range.js';

interface VirtualListProps<T> {
  label: string;
  items: readonly T[];
  itemKey: (item: T) => string | number;
  /** Of every row, in pixels. */
  rowHeight: number;
  children: (item: T) => ComponentChildren;
}

/** A list of any length that scrolls on its own and draws only the rows that can be seen. */
export function VirtualList<T>({ label, items, itemKey, rowHeight, children }: VirtualListProps<T>) {
  const { box, view } = useScrollView<HTMLDivElement>();
  const { first, last } = visibleRange(view, rowHeight, items.length);
  return (
    <div class="virtual-list" ref={box} role="region" aria-label={label} tabIndex={0}>
      <ul style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, last).map((item, index) => (
          <li
            key={itemKey(item)}
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            style={{ height: `${rowHeight}px`, transform: `translateY(${(first + index) * rowHeight}px)` }}
          >
            {children(item)}
          </li>
        ))}
      </ul>
    </div>
  );
}
