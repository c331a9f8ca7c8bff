import type { AppError } from '@gatehouse/platform';
import { APPLICATION_STATUSES, AUTH_LEVELS, type Application } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import type { ApplicationStatus } from '../../credentials/credential-records.js';
import { checkboxes, form, hiddenField, select, submit } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { dataTable, facts, pager } from '../parts/tables.js';
import type { Visitor } from '../../wire/visitor.js';
import { proposedFacts } from '../developer/proposed.view.js';
import { sections } from './sections.js';

const PROPOSAL_CHOICES = [
  { value: '', label: 'decide later' },
  { value: 'accept', label: 'accept' },
  { value: 'refuse', label: 'refuse' },
];

interface ListState {
  readonly applications: readonly Application[];
  readonly owners: ReadonlyMap<number, string>;
  readonly status: ApplicationStatus | undefined;
  /** Only those with a change that waits. */
  readonly proposed: boolean;
  readonly page: number;
  readonly hasMore: boolean;
}

export interface ReviewState {
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

export function applicationList({ applications, owners, status, proposed, page, hasMore }: ListState): Html {
  const filters = [undefined, ...APPLICATION_STATUSES].map((one) => {
    const path = one === undefined ? '/admin/applications' : `/admin/applications?status=${one}`;
    return markup`<a href="${path}"${one === status && !proposed && markup` aria-current="true"`}>${one ?? 'all'}</a> `;
  });
  const rows = applications.map((application) => [
    markup`<a href="/admin/applications/${application.clientId}">${visibleName(application.name)}</a>`,
    markup`<a href="/admin/users/${application.ownerId}">${owners.get(application.ownerId)}</a>`,
    application.status,
    application.authLevel,
    application.allowedScopes.join(', '),
    application.quotaProfile,
    application.proposed !== null && 'waits for a review',
  ]);
  const here = proposed ? '?proposed=true' : status === undefined ? '' : `?status=${status}`;
  return markup`${sections('/admin/applications')}
<nav aria-label="Status">Status: ${filters}<a href="/admin/applications?proposed=true"${proposed && markup` aria-current="true"`}>changed</a></nav>
${dataTable('Applications', ['Name', 'Owner', 'Status', 'Review', 'Scopes', 'Limits', 'Change'], rows, 'There are none.')}
${pager(`/admin/applications${here}`, page, hasMore)}`;
}

interface ReviewFacts {
  readonly application: Application;
  readonly owner: string;
  /** Names of the limits that there are. */
  readonly profiles: readonly string[];
}

export function reviewPage(visitor: Visitor, { application, owner, profiles }: ReviewFacts, state: ReviewState): Html {
  const { values, problem } = state;
  return markup`${sections('/admin/applications')}
${facts([
  ['Client id', markup`<code>${application.clientId}</code>`],
  ['Owner', markup`<a href="/admin/users/${application.ownerId}">${owner}</a>`],
  ['About it', application.description],
  ['Kind', application.kind],
  ['Redirect addresses', application.redirectUris.map((uri) => markup`<code>${uri}</code><br>`)],
  ['Accepted from', application.ipAllow.join(', ') || 'everywhere'],
])}
${proposedFacts(application, 'The owner wants to change')}
<h2>Review</h2>
${form(visitor, `/admin/applications/${application.clientId}`, [
  hiddenField('seen_at', application.updatedAt.toISOString()),
  proposalChoice(application, state),
  select({
    name: 'status',
    label: 'Status',
    hint: 'Rejecting or disabling it ends all its authorizations.',
    choices: APPLICATION_STATUSES.map((value) => ({ value, label: value })),
    value: values?.text('status') ?? application.status,
    problem,
  }),
  select({
    name: 'auth_level',
    label: 'Level',
    hint: 'Unverified: for its owner and test users only.',
    choices: AUTH_LEVELS.map((value) => ({ value, label: value })),
    value: values?.text('auth_level') ?? application.authLevel,
    problem,
  }),
  checkboxes({
    name: 'scopes',
    label: 'What it may ask for',
    choices: scopeChoices(),
    checked: values?.list('scopes') ?? application.allowedScopes,
    problem,
  }),
  select({
    name: 'quota_profile',
    label: 'Limits',
    choices: [{ value: '', label: 'the usual ones' }, ...profiles.map((value) => ({ value, label: value }))],
    value: values?.text('quota_profile') ?? application.quotaProfile ?? '',
    problem,
  }),
  submit('Save the review'),
])}`;
}

function proposalChoice({ proposed }: Application, { values, problem }: ReviewState): Content {
  if (proposed === null) return undefined;
  return select({
    name: 'proposal',
    label: 'The wanted change',
    hint: 'Until it is accepted, users see what was reviewed last.',
    choices: PROPOSAL_CHOICES,
    value: values?.text('proposal') ?? '',
    problem,
  });
}
