import type { Visitor } from '../../wire/visitor.js';
import { Html, markup } from '../parts/markup.js';
import { badge, dataTable, tiles } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import type { RecentUsage } from './application-usage.js';
import { dayChart, shareBar } from './usage-chart.js';

/** Links between the usage of real calls and that of test calls. */
export function usageModes({ words }: Visitor, clientId: string, { isTest }: RecentUsage): Html {
  const link = (query: string, label: string, isHere: boolean): Html =>
    markup`<a class="button${isHere && ' primary'}" href="/developer/${clientId}${query}"${isHere && new Html(' aria-current="true"')}>${label}</a>`;
  return markup`<nav class="actions spaced" aria-label="${words.text('usage.calls')}">
${link('', words.text('usage.real'), !isTest)}
${link('?calls=test', words.text('usage.test'), isTest)}
</nav>`;
}

/** Calls of an application by day and by operation, and the rest of its quota. */
export function usageTables(visitor: Visitor, recent: RecentUsage): Html {
  const { words } = visitor;
  const { usage, isTest } = recent;
  if (usage.summary.total === 0) {
    return markup`${figures(visitor, recent)}<p class="muted">${words.text(isTest ? 'usage.noTestCalls' : 'developer.usageNone')}</p>`;
  }
  return markup`${figures(visitor, recent)}
<h3>${words.text('developer.byDay')}${isTest && [' ', badge('none', words.text('testMode.inLog'))]}</h3>
${dayChart(visitor, recent.calendar)}
<details class="chart-table"><summary>${words.text('usage.table')}</summary>
${dayTable(visitor, recent)}
</details>
<h3>${words.text('developer.byOperation')}</h3>
${operationTable(visitor, recent)}`;
}

function figures(visitor: Visitor, { usage: { summary }, quota }: RecentUsage): Html {
  const { words } = visitor;
  const failed = summary.total - summary.ok;
  const left = words.rich<Html, 'usage.quota'>('usage.quota', {
    left: Math.max(0, (quota.limit ?? 0) - quota.used),
    limit: quota.limit ?? 0,
    time: timesFor(visitor)(new Date(quota.resetAt)),
    note: (inside) => markup`<small class="muted">${inside}</small>`,
  });
  return tiles([
    [words.text('developer.calls'), summary.total],
    [words.text('developer.failed'), failed],
    [words.text('developer.p95'), Math.round(summary.p95Ms)],
    [words.text('usage.quotaLeft'), quota.limit === null ? words.text('usage.noLimit') : left],
  ]);
}

function dayTable({ words }: Visitor, { usage: { days } }: RecentUsage): Html {
  const rows = days.map(({ date, total, ok, p95Ms }) => [date, total, total - ok, Math.round(p95Ms)]);
  const columns = [
    words.text('developer.day'),
    words.text('developer.calls'),
    words.text('developer.failed'),
    words.text('developer.p95'),
  ];
  return dataTable(words.text('developer.byDay'), columns, rows.toReversed(), '');
}

function operationTable({ words }: Visitor, { usage: { endpoints } }: RecentUsage): Html {
  const most = Math.max(...endpoints.map(({ total }) => total));
  const rows = endpoints.map(({ method, endpoint, total, ok, latencyUs }) => [
    markup`<code>${method} ${endpoint}</code>`,
    shareBar(ok, total, most),
    total,
    total - ok,
    (latencyUs / Math.max(1, total) / 1_000).toFixed(1),
  ]);
  const columns = [
    words.text('developer.operation'),
    words.text('usage.share'),
    words.text('developer.calls'),
    words.text('developer.failed'),
    words.text('developer.average'),
  ];
  return dataTable(words.text('developer.byOperation'), columns, rows, '');
}
