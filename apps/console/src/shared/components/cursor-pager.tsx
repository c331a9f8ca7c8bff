import { FIRST_CURSOR, nextPage, previousPage, type CursorPage } from '../state/cursor.js';
import { PAGE_SIZES } from './pager.js';
import { t } from '../messages/index.js';

export type { CursorPage };

/** Lists with cursors give no more than 200 rows at once. */
const SIZES = PAGE_SIZES.filter((size) => size <= 200);

interface CursorPagerProps {
  label: string;
  page: CursorPage;
  /** What the service gave for the page after this one. */
  next: string | null;
  note: string;
  onChange: (page: CursorPage) => void;
  /** Lists in the order of time, the newest first, or in any other. */
  order?: 'newest' | 'any';
}

/** Steps through a list of any length at the same cost however deep. Where there is one page only, its note is left. */
export function CursorPager({ label, page, next, note, onChange, order = 'newest' }: CursorPagerProps) {
  const byTime = order === 'newest';
  const isOnlyPage = page.cursor === null && next === null && page.limit <= FIRST_CURSOR.limit;
  if (isOnlyPage && note === '') return null;
  if (isOnlyPage) return <p class="pager">{note}</p>;
  return (
    <nav class="pager" aria-label={t('table.pagesOf', { list: label })}>
      <span aria-live="polite">{note}</span>
      <select
        aria-label={t('table.rowsPerPage')}
        value={String(page.limit)}
        onChange={(event) => onChange({ ...FIRST_CURSOR, limit: Number(event.currentTarget.value) })}
      >
        {SIZES.map((size) => (
          <option key={size} value={String(size)}>
            {t('table.rows', { count: size })}
          </option>
        ))}
      </select>
      <button
        type="button"
        disabled={page.cursor === null}
        onClick={() => onChange({ ...FIRST_CURSOR, limit: page.limit })}
      >
        {byTime ? t('table.newest') : t('table.first')}
      </button>
      <button type="button" disabled={page.cursor === null} onClick={() => onChange(previousPage(page))}>
        {byTime ? t('table.newer') : t('common.previous')}
      </button>
      <button type="button" disabled={next === null} onClick={() => next !== null && onChange(nextPage(page, next))}>
        {byTime ? t('table.older') : t('common.next')}
      </button>
    </nav>
  );
}
