import { formatCount } from '../format/amounts.js';
import { t } from '../messages/index.js';

export interface PagerProps {
  /** Of what: for screen readers. */
  label: string;
  total: number;
  limit: number;
  offset: number;
  onChange: (page: { limit: number; offset: number }) => void;
  /** Page sizes to choose from; none: the size stays. */
  sizes?: readonly number[];
}

export const PAGE_SIZES = [25, 50, 100, 200, 500] as const;

/** Steps through a list that the service pages. Where there is nothing to step through, it is not there. */
export function Pager({ label, total, limit, offset, onChange, sizes }: PagerProps) {
  const last = Math.min(total, offset + limit);
  const to = (next: number): void => onChange({ limit, offset: Math.max(0, next) });
  if (total <= Math.min(limit, ...(sizes ?? [])) && offset === 0) return null;
  return (
    <nav class="pager" aria-label={t('table.pagesOf', { list: label })}>
      <span aria-live="polite">
        {t('table.range', {
          first: formatCount(Math.min(offset + 1, total)),
          last: formatCount(last),
          total: formatCount(total),
        })}
      </span>
      {sizes && (
        <select
          aria-label={t('table.rowsPerPage')}
          value={String(limit)}
          onChange={(event) => onChange({ limit: Number(event.currentTarget.value), offset: 0 })}
        >
          {sizes.map((size) => (
            <option key={size} value={String(size)}>
              {t('table.rows', { count: size })}
            </option>
          ))}
        </select>
      )}
      <button type="button" disabled={offset <= 0} onClick={() => to(offset - limit)}>
        {t('common.previous')}
      </button>
      <button type="button" disabled={offset + limit >= total} onClick={() => to(offset + limit)}>
        {t('common.next')}
      </button>
    </nav>
  );
}
