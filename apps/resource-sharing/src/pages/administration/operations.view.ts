import type { AppError } from '@gatehouse/platform';
import type { AuditEntry } from '../../audit/audit-trail.js';
import type { EndpointSwitch } from '../../open-api/endpoint-switches.js';
import { actionForm, field, form, submit } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { dataTable } from '../parts/tables.js';
import { timeIn } from '../parts/times.js';
import type { Visitor } from '../../wire/visitor.js';
import { searchForm, sections } from './sections.js';

interface SwitchState {
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
  readonly timeZone: string;
}

interface TrailState {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
  readonly timeZone: string;
  readonly type: string | undefined;
  readonly userId: number | undefined;
}

export function operationsPage(visitor: Visitor, switches: readonly EndpointSwitch[], state: SwitchState): Html {
  const { values, problem, timeZone } = state;
  const time = timeIn(timeZone);
  const rows = switches.map(({ operation, reason, disabledAt }) => [
    markup`<code>${operation}</code>`,
    reason,
    time(disabledAt),
    actionForm(visitor, '/admin/operations', 'Switch on', {
      style: 'plain',
      fields: { operation, enabled: 'true' },
      about: operation,
    }),
  ]);
  return markup`${sections('/admin/operations')}
${dataTable('Switched off', ['Operation', 'Reason', 'Since', ''], rows, 'Every operation is on.')}
<h2>Switch an operation off</h2>
${form(visitor, '/admin/operations', [
  field({
    name: 'operation',
    label: 'Operation',
    hint: 'Method and route, such as POST /api/open/resources/unlock.',
    value: values?.text('operation'),
    problem,
  }),
  field({ name: 'reason', label: 'Reason', optional: true, value: values?.text('reason'), problem }),
  submit('Switch off', 'danger'),
])}`;
}

export function eventsPage({ entries, hasMore, timeZone, type, userId }: TrailState): Html {
  const time = timeIn(timeZone);
  const rows = entries.map((entry) => [
    time(entry.at),
    entry.type,
    person(entry.userId, entry.user),
    person(entry.actorId, entry.actor),
    entry.application ?? entry.applicationId,
    entry.ip,
    JSON.stringify(entry.details) === '{}' ? '' : markup`<code>${JSON.stringify(entry.details)}</code>`,
  ]);
  const last = entries.at(-1);
  return markup`${sections('/admin/events')}
${searchForm('/admin/events', 'Type, or how it begins, such as app.', type ?? '')}
${dataTable('Events', ['When', 'What', 'Of', 'By', 'Application', 'Address', 'Details'], rows, 'There are none.')}
${hasMore && last !== undefined && markup`<p><a href="${olderPath(last.id, type, userId)}" rel="next">Older</a></p>`}`;
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
