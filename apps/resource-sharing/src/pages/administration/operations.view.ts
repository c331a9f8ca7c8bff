import type { AppError } from '@gatehouse/platform';
import type { AuditEntry } from '../../audit/audit-trail.js';
import type { EndpointSwitch } from '../../open-api/endpoint-switches.js';
import { actionForm, field, form, submit, searchForm } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { card, dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { detailName, trailWords } from '../parts/trail-words.js';
import type { Visitor } from '../../wire/visitor.js';
import { sections } from './sections.js';

interface SwitchState {
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

interface TrailState {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
  readonly type: string | undefined;
  readonly userId: number | undefined;
}

export function operationsPage(visitor: Visitor, switches: readonly EndpointSwitch[], state: SwitchState): Html {
  const { words } = visitor;
  const { values, problem } = state;
  const time = timesFor(visitor);
  const rows = switches.map(({ operation, reason, disabledAt }) => [
    markup`<code>${operation}</code>`,
    reason,
    time(disabledAt),
    actionForm(visitor, '/admin/operations', words.text('operations.enable'), {
      fields: { operation, enabled: 'true' },
      about: operation,
    }),
  ]);
  const columns = [words.text('fields.operation'), words.text('fields.reason'), words.text('operations.since'), ''];
  const disableForm = form(visitor, '/admin/operations', [
    field(visitor, {
      name: 'operation',
      hint: words.text('operations.hint'),
      value: values?.text('operation'),
      problem,
    }),
    field(visitor, { name: 'reason', optional: true, value: values?.text('reason'), problem }),
    submit(words.text('operations.disable'), 'danger'),
  ]);
  return markup`${sections(visitor, '/admin/operations')}
${card(
  words.text('operations.caption'),
  dataTable(words.text('operations.caption'), columns, rows, words.text('operations.none')),
)}
${card(words.text('operations.disableTitle'), disableForm)}`;
}

export function eventsPage(visitor: Visitor, { entries, hasMore, type, userId }: TrailState): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = entries.map((entry) => [
    time(entry.at),
    trailWords(visitor, entry.type),
    person(entry.userId, entry.user),
    person(entry.actorId, entry.actor),
    entry.application ?? entry.applicationId,
    entry.ip,
    Object.entries(entry.details).map(
      ([name, value]) => markup`<span class="second">${detailName(visitor, name)}: ${textOf(value)}</span>`,
    ),
  ]);
  const columns = [
    words.text('common.time'),
    words.text('events.event'),
    words.text('events.user'),
    words.text('events.by'),
    words.text('events.application'),
    words.text('common.ipAddress'),
    words.text('common.details'),
  ];
  const last = entries.at(-1);
  return markup`${sections(visitor, '/admin/events')}
${searchForm(visitor, '/admin/events', words.text('events.search'), type ?? '')}
${dataTable(words.text('admin.events'), columns, rows, words.text('events.none'))}
${
  hasMore &&
  last !== undefined &&
  markup`<nav class="pager" aria-label="${words.text('common.pages')}">
<a class="button" href="${olderPath(last.id, type, userId)}" rel="next">${words.text('common.older')}</a></nav>`
}`;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function olderPath(before: number, type: string | undefined, userId: number | undefined): string {
  const query = new URLSearchParams({ before: String(before) });
  if (type !== undefined) query.set('search', type);
  if (userId !== undefined) query.set('user_id', String(userId));
  return `/admin/events?${query.toString()}`;
}

function person(id: number | null, name: string | null): Content {
  return id === null ? '' : markup`<a href="/admin/users/${id}">${name ?? id}</a>`;
}
