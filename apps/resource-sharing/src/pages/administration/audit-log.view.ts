import type { AuditLogPage, AuditLogView, AuditVerification } from '@gatehouse/contracts';
import type { AppError } from '@gatehouse/platform';
import { field, select } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { badge, dataTable, facts } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { trailWords } from '../parts/trail-words.js';
import type { Visitor } from '../../wire/visitor.js';
import { sections } from './sections.js';

/** Fields of the form, with the names of the parameters of `GET /api/site/admin/audit-logs`. */
export type AuditFilter = Readonly<Partial<Record<'actor' | 'action' | 'success' | 'cursor', string>>>;

interface AuditLogState {
  readonly filter: AuditFilter;
  /** Undefined if the filter was refused. */
  readonly page: AuditLogPage | undefined;
  readonly problem: AppError | undefined;
}

const PATH = '/admin/audit-log';

export function auditLogPage(visitor: Visitor, { filter, page, problem }: AuditLogState): Html {
  const { words } = visitor;
  return markup`${sections(visitor, PATH)}
<p>${words.text('auditLog.intro')}</p>
<p><a href="${PATH}/verify">${words.text('auditLog.verify')}</a></p>
${filterForm(visitor, filter, problem)}
${page !== undefined && entries(visitor, page, filter)}`;
}

/** The result of `GET /audit-logs/verify`, in words. */
export function verificationPage(visitor: Visitor, verification: AuditVerification): Html {
  const { words } = visitor;
  const { checked, broken, witness, ...log } = verification;
  const witnessText = words.text(`auditLog.witnesses.${witness.status}`);
  const none = words.text('common.none');
  const result =
    broken === null
      ? markup`<p class="notice" role="status">${words.text('auditLog.intact', { count: checked })} ${witnessText}</p>`
      : markup`<div class="problems" role="alert"><h2>${words.text('auditLog.tampered')}</h2>
<p>${words.text('auditLog.breaks', { id: broken.id })} ${words.text(`auditLog.reasons.${broken.reason}`)}</p></div>`;
  const range = words.text('auditLog.rowRange', { first: log.first_id, last: log.last_id });
  return markup`${sections(visitor, PATH)}
${result}
${facts([
  [words.text('auditLog.rows'), log.last_id < log.first_id ? none : range],
  [words.text('auditLog.lastHash'), markup`<code>${log.last_hash}</code>`],
  [words.text('auditLog.witness'), witness.detail ?? witnessText],
  [words.text('auditLog.witnessRow'), witness.last_id ?? none],
  [words.text('auditLog.witnessTime'), timesFor(visitor)(witness.at === null ? null : new Date(witness.at))],
])}
<p><a href="${PATH}">${words.text('auditLog.back')}</a></p>`;
}

function filterForm(visitor: Visitor, { actor, action, success }: AuditFilter, problem: AppError | undefined): Html {
  const { words } = visitor;
  const outcomes = [
    { value: '', label: words.text('auditLog.outcomes.all') },
    { value: 'true', label: words.text('auditLog.outcomes.ok') },
    { value: 'false', label: words.text('auditLog.outcomes.failed') },
  ];
  return markup`<form method="get" action="${PATH}" role="search" aria-label="${words.text('auditLog.filterName')}">
<div class="form-row">
${field(visitor, { name: 'actor', hint: words.text('auditLog.actorHint'), value: actor, optional: true, problem })}
${field(visitor, { name: 'action', hint: words.text('auditLog.actionHint'), value: action, optional: true, problem })}
${select(visitor, { name: 'success', value: success ?? '', choices: outcomes, problem })}
</div>
<p class="actions"><button>${words.text('auditLog.filter')}</button></p></form>`;
}

function entries(visitor: Visitor, { items, total, next_cursor: next }: AuditLogPage, filter: AuditFilter): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = items.map((row) => [
    time(new Date(row.created_at)),
    whoOf(row),
    row.ip,
    markup`${trailWords(visitor, row.action)} <span class="second">${row.resource_name ?? row.resource_id}</span>`,
    outcomeOf(visitor, row),
    detailsOf(visitor, row),
  ]);
  const columns = [
    words.text('common.time'),
    words.text('fields.actor'),
    words.text('common.ipAddress'),
    words.text('fields.action'),
    words.text('fields.success'),
    words.text('common.details'),
  ];
  return markup`${dataTable(words.text('auditLog.caption'), columns, rows, words.text('common.nothingFound'))}
<p class="muted">${words.text('auditLog.entries', { count: total })}</p>
${(filter.cursor !== undefined || next !== null) && pages(visitor, filter, next)}`;
}

function pages({ words }: Visitor, { cursor, ...filter }: AuditFilter, next: string | null): Html {
  const at = (more: Record<string, string>): string => {
    const query = new URLSearchParams({ ...filter, ...more }).toString();
    return query === '' ? PATH : `${PATH}?${query}`;
  };
  return markup`<nav class="pager" aria-label="${words.text('common.pages')}">
${cursor !== undefined && markup`<a class="button" href="${at({})}">${words.text('common.newest')}</a>`}
${next !== null && markup`<a class="button" href="${at({ cursor: next })}" rel="next">${words.text('common.older')}</a>`}
</nav>`;
}

function whoOf({ actor: { type, id, name } }: AuditLogView): Content {
  return type === 'session' && id !== null ? markup`<a href="/admin/users/${id}">${name ?? id}</a>` : (name ?? type);
}

function outcomeOf({ words }: Visitor, { success, status, error }: AuditLogView): Html {
  const text = [words.text(success ? 'auditLog.ok' : 'auditLog.failed'), status, error];
  return badge(success ? 'good' : 'bad', text.filter((part) => part !== null).join(' · '));
}

/** Details that do not fit into a row, in an element that opens without a script. */
function detailsOf({ words }: Visitor, row: AuditLogView): Html {
  const { id, changes, method, path, user_agent: program, request_id: request, hash } = row;
  const changed = changes.map(
    ({ field: name, before, after }) => markup`<li><code>${name}</code>: ${value(before)} &rarr; ${value(after)}</li>`,
  );
  return markup`<details><summary>${words.text('auditLog.row', { id })}</summary>
${changed.length > 0 && markup`<ul>${changed}</ul>`}
${facts([
  [words.text('auditLog.request'), method === null ? '–' : `${method} ${path ?? ''}`],
  [words.text('auditLog.userAgent'), program ?? '–'],
  [words.text('auditLog.requestId'), request ?? '–'],
  [words.text('auditLog.hash'), markup`<code>${hash}</code>`],
])}</details>`;
}

const value = (content: string | number | boolean | null): Html =>
  content === null ? markup`&ndash;` : markup`<code>${String(content)}</code>`;
