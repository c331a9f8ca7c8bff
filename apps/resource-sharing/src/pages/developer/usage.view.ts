import type { Usage } from '../../usage/usage-reader.js';
import type { Visitor } from '../../wire/visitor.js';
import { Html, markup } from '../parts/markup.js';
import { dataTable } from '../parts/tables.js';

/** Calls of an application, by day and by operation. */
export function usageTables({ words }: Visitor, { days, endpoints, summary }: Usage): Html {
  if (summary.total === 0) return markup`<p class="muted">${words.text('developer.usageNone')}</p>`;
  const calls = words.text('developer.calls');
  const failed = words.text('developer.failed');
  const byDay = days.map(({ date, total, ok, p95Ms }) => [date, total, total - ok, Math.round(p95Ms)]);
  const byOperation = endpoints.map(({ method, endpoint, total, ok, latencyUs }) => [
    markup`<code>${method} ${endpoint}</code>`,
    total,
    total - ok,
    (latencyUs / Math.max(1, total) / 1_000).toFixed(1),
  ]);
  const dayColumns = [words.text('developer.day'), calls, failed, words.text('developer.p95')];
  const operationColumns = [words.text('developer.operation'), calls, failed, words.text('developer.average')];
  return markup`<h3>${words.text('developer.byDay')}</h3>
${dataTable(words.text('developer.byDay'), dayColumns, byDay.toReversed(), '')}
<h3>${words.text('developer.byOperation')}</h3>
${dataTable(words.text('developer.byOperation'), operationColumns, byOperation, '')}`;
}
