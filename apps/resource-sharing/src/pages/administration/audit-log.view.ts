import type { AuditBreakReason, AuditLogPage, AuditLogView, AuditVerification } from '@gatehouse/contracts';
import type { AppError } from '@gatehouse/platform';
import { field, select } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { dataTable, facts } from '../parts/tables.js';
import { timeIn } from '../parts/times.js';
import { sections } from './sections.js';

/** Fields of the form, named as the parameters of `GET /api/site/admin/audit-logs`. */
export type AuditFilter = Readonly<Partial<Record<'actor' | 'action' | 'success' | 'cursor', string>>>;

interface AuditLogState {
  readonly filter: AuditFilter;
  /** Undefined where the filter was refused. */
  readonly page: AuditLogPage | undefined;
  readonly problem: AppError | undefined;
  readonly timeZone: string;
}

const PATH = '/admin/audit-log';
const COLUMNS = ['When', 'Who', 'From', 'Action', 'Outcome', 'Details'];
const OUTCOMES = [
  { value: '', label: 'All' },
  { value: 'true', label: 'Successful' },
  { value: 'false', label: 'Failed' },
];

const BREAKS: Record<AuditBreakReason, string> = {
  row_missing: 'A row was removed.',
  row_changed: 'A row was changed.',
  order_changed: 'Rows were put into another order.',
  end_missing: 'The newest rows were removed.',
  head_changed: 'The record of the last row was changed.',
  witness_ahead: 'The log was put back to an earlier state: the witness outside the database has seen newer rows.',
  witness_differs: 'The log was cut and continued: the witness outside the database has seen another row here.',
};

const WITNESS: Record<AuditVerification['witness']['status'], string> = {
  confirms: 'The witness outside the database confirms it.',
  behind: 'The witness outside the database does not have the newest rows yet.',
  restored: 'A backup was restored: the witness outside the database has seen rows that are not in it.',
  contradicts: 'The witness outside the database has seen another log.',
  unreadable: 'The witness outside the database cannot be read.',
  off: 'There is no witness outside the database, so a log that was put back to an earlier state cannot be told apart.',
};

export function auditLogPage({ filter, page, problem, timeZone }: AuditLogState): Html {
  return markup`${sections(PATH)}
<p>Every call that may change something, whoever made it and however it ended. Secrets are shown as ***.</p>
<p><a href="${PATH}/verify">Check that nobody has changed the log</a></p>
${filterForm(filter, problem)}
${page !== undefined && entries(page, filter, timeZone)}`;
}

/** What `GET /audit-logs/verify` found, in words. */
export function verificationPage({ checked, broken, witness, ...log }: AuditVerification, timeZone: string): Html {
  const result =
    broken === null
      ? markup`<p class="notice" role="status">The log is whole: each of its ${checked} rows follows the row before it. ${WITNESS[witness.status]}</p>`
      : markup`<div class="problems" role="alert"><h2>The log was tampered with</h2>
<p>The chain breaks at row ${broken.id}. ${BREAKS[broken.reason]}</p></div>`;
  return markup`${sections(PATH)}
${result}
${facts([
  ['Rows', log.last_id < log.first_id ? 'none' : `${log.first_id} to ${log.last_id}`],
  ['Hash of the last row', markup`<code>${log.last_hash}</code>`],
  ['Witness', witness.detail ?? WITNESS[witness.status]],
  ['Last row that the witness knows', witness.last_id ?? 'none'],
  ['Written by the witness', timeIn(timeZone)(witness.at === null ? null : new Date(witness.at))],
])}
<p><a href="${PATH}">Back to the audit log</a></p>`;
}

function filterForm({ actor, action, success }: AuditFilter, problem: AppError | undefined): Html {
  return markup`<form method="get" action="${PATH}" role="search" aria-label="Filter the audit log">
${field({ name: 'actor', label: 'Who', hint: 'A name, session:5 for the user 5, or system or anonymous.', value: actor, optional: true, problem })}
${field({ name: 'action', label: 'Action', hint: 'Such as user.update, or user.* for all of users.', value: action, optional: true, problem })}
${select({ name: 'success', label: 'Outcome', value: success ?? '', choices: OUTCOMES, problem })}
<p class="actions"><button class="plain">Filter</button></p></form>`;
}

function entries({ items, total, next_cursor: next }: AuditLogPage, filter: AuditFilter, timeZone: string): Html {
  const time = timeIn(timeZone);
  const rows = items.map((row) => [
    time(new Date(row.created_at)),
    whoOf(row),
    row.ip,
    markup`${row.action} <span class="quiet">${row.resource_name ?? row.resource_id}</span>`,
    outcomeOf(row),
    detailsOf(row),
  ]);
  return markup`${dataTable('Entries of the audit log', COLUMNS, rows, 'Nothing was found.')}
<p class="quiet">${total} ${total === 1 ? 'entry' : 'entries'}</p>
${(filter.cursor !== undefined || next !== null) && pages(filter, next)}`;
}

function pages({ cursor, ...filter }: AuditFilter, next: string | null): Html {
  const at = (more: Record<string, string>): string => {
    const query = new URLSearchParams({ ...filter, ...more }).toString();
    return query === '' ? PATH : `${PATH}?${query}`;
  };
  return markup`<nav class="actions" aria-label="Pages">
${cursor !== undefined && markup`<a href="${at({})}">Newest</a>`}
${next !== null && markup`<a href="${at({ cursor: next })}" rel="next">Older</a>`}
</nav>`;
}

function whoOf({ actor: { type, id, name } }: AuditLogView): Content {
  return type === 'session' && id !== null ? markup`<a href="/admin/users/${id}">${name ?? id}</a>` : (name ?? type);
}

function outcomeOf({ success, status, error }: AuditLogView): string {
  return [success ? 'ok' : 'failed', status, error].filter((part) => part !== null).join(' · ');
}

/** What does not fit into a row, behind an element that opens without a script. */
function detailsOf({ id, changes, method, path, user_agent: program, request_id: request, hash }: AuditLogView): Html {
  const changed = changes.map(
    ({ field: name, before, after }) => markup`<li><code>${name}</code>: ${value(before)} → ${value(after)}</li>`,
  );
  return markup`<details><summary>Row ${id}</summary>
${changed.length > 0 && markup`<ul>${changed}</ul>`}
${facts([
  ['Request', method === null ? '–' : `${method} ${path ?? ''}`],
  ['Program', program ?? '–'],
  ['Request id', request ?? '–'],
  ['Hash', markup`<code>${hash}</code>`],
])}</details>`;
}

const value = (content: string | number | boolean | null): Html =>
  content === null ? markup`–` : markup`<code>${String(content)}</code>`;
