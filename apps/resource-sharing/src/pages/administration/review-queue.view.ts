import type { Application } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import type { Visitor } from '../../wire/visitor.js';
import { actionForm } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { scopeNames } from '../parts/scope-words.js';
import { card, dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { sections } from './sections.js';

interface QueueState {
  /** Longest waiting first. */
  readonly applications: readonly Application[];
  readonly owners: ReadonlyMap<number, string>;
  /** The total number of waiting items. */
  readonly total: number;
}

/** Applications and changes that are waiting for a decision. */
export function reviewQueue(visitor: Visitor, { applications, owners, total }: QueueState): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = applications.map((application) => [
    markup`<a href="/admin/applications/${application.clientId}">${visibleName(application.name)}</a>`,
    markup`<a href="/admin/users/${application.ownerId}">${owners.get(application.ownerId)}</a>`,
    words.text(isChange(application) ? 'reviews.aChange' : 'reviews.aNew'),
    scopeNames(visitor, application.allowedScopes),
    time(isChange(application) ? application.updatedAt : application.createdAt),
  ]);
  const columns = [
    words.text('common.name'),
    words.text('common.owner'),
    words.text('reviews.request'),
    words.text('fields.scopes'),
    words.text('reviews.since'),
  ];
  return markup`${sections(visitor, '/admin/reviews')}
<p>${words.text('reviews.queueIntro', { count: total })}</p>
${dataTable(words.text('reviews.queueCaption'), columns, rows, words.text('reviews.queueEmpty'))}`;
}

/** Buttons for the usual decision; undefined if nothing is waiting. */
export function decisionCard(visitor: Visitor, application: Application): Content {
  const { words } = visitor;
  if (application.status !== 'pending' && !isChange(application)) return undefined;
  const button = (decision: 'approve' | 'reject', style: 'danger' | 'primary'): Html =>
    actionForm(visitor, `/admin/applications/${application.clientId}/decide`, words.text(`reviews.${decision}`), {
      style,
      size: 'normal',
      fields: { decision, seen_at: application.updatedAt.toISOString() },
    });
  const text = words.text(isChange(application) ? 'reviews.decideChange' : 'reviews.decideNew');
  return card(
    words.text('reviews.decision'),
    markup`<p>${text}</p><div class="actions">${button('approve', 'primary')}${button('reject', 'danger')}</div>`,
  );
}

function isChange({ status, proposed }: Application): boolean {
  return status === 'approved' && proposed !== null;
}
