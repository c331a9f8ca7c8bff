import { FIRST_CURSOR, nextPage, previousPage, type CursorPage } from '../state/cursor.js';
import { PAGE_SIZES } from './pager.js';

export type { CursorPage };

interface CursorPagerProps {
  label: string;
  page: CursorPage;
  /** What the service gave for the page after this one. */
  next: string | null;
  note: string;
  onChange: (page: CursorPage) => void;
  /** Lists in the order of time, the newest first, or in any other. */
  order?: keyof typeof WORDS;
}

const WORDS = {
  newest: { first: 'Newest', back: 'Newer', on: 'Older' },
  any: { first: 'First', back: 'Previous', on: 'Next' },
} as const;

/** Steps through a list of any length at the same cost however deep. */
export function CursorPager({ label, page, next, note, onChange, order = 'newest' }: CursorPagerProps) {
  const words = WORDS[order];
  return (
    <nav class="pager" aria-label={`Pages of ${label}`}>
      <span aria-live="polite">{note}</span>
      <select
        aria-label="Rows on a page"
        value={String(page.limit)}
        onChange={(event) => onChange({ ...FIRST_CURSOR, limit: Number(event.currentTarget.value) })}
      >
        {PAGE_SIZES.map((size) => (
          <option key={size} value={String(size)}>
            {size} rows
          </option>
        ))}
      </select>
      <button
        type="button"
        disabled={page.cursor === null}
        onClick={() => onChange({ ...FIRST_CURSOR, limit: page.limit })}
      >
        {words.first}
      </button>
      <button type="button" disabled={page.cursor === null} onClick={() => onChange(previousPage(page))}>
        {words.back}
      </button>
      <button type="button" disabled={next === null} onClick={() => next !== null && onChange(nextPage(page, next))}>
        {words.on}
      </button>
    </nav>
  );
}
