import type { Usage } from '../../usage/usage-reader.js';
import { Html, markup } from '../parts/markup.js';
import { dataTable } from '../parts/tables.js';

/** Calls of an application, by day and by operation. */
export function usageTables({ days, endpoints, summary }: Usage): Html {
  if (summary.total === 0) return markup`<p class="quiet">It has called nothing in the last 30 days.</p>`;
  const byDay = days.map(({ date, total, ok, p95Ms }) => [date, total, total - ok, Math.round(p95Ms)]);
  const byOperation = endpoints.map(({ method, endpoint, total, ok, latencyUs }) => [
    markup`<code>${method} ${endpoint}</code>`,
    total,
    total - ok,
    (latencyUs / Math.max(1, total) / 1_000).toFixed(1),
  ]);
  return markup`${dataTable('By day', ['Day', 'Calls', 'Failed', '95 % within ms'], byDay.toReversed(), '')}
${dataTable('By operation', ['Operation', 'Calls', 'Failed', 'Average ms'], byOperation, '')}`;
}
