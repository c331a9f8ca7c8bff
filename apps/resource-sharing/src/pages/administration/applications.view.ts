import type { AppError } from '@gatehouse/platform';
import { APPLICATION_STATUSES, AUTH_LEVELS, type Application } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import type { ApplicationStatus } from '../../credentials/credential-records.js';
import { checkboxes, form, hiddenField, select, submit } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { scopeChoices, scopeNames } from '../parts/scope-words.js';
import { badge, card, dataTable, facts, pager } from '../parts/tables.js';
import type { Visitor } from '../../wire/visitor.js';
import { statusBadge } from '../developer/developer.view.js';
import { proposedFacts, uriList } from '../developer/proposed.view.js';
import { decisionCard } from './review-queue.view.js';
import { sections } from './sections.js';

interface ListState {
  readonly applications: readonly Application[];
  readonly owners: ReadonlyMap<number, string>;
  readonly status: ApplicationStatus | undefined;
  /** Only applications with a waiting change. */
  readonly proposed: boolean;
  readonly page: number;
  readonly hasMore: boolean;
}

export interface ReviewState {
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

export function applicationList(visitor: Visitor, state: ListState): Html {
  const { words } = visitor;
  const { applications, owners, status, proposed, page, hasMore } = state;
  const rows = applications.map((application) => [
    markup`<a href="/admin/applications/${application.clientId}">${visibleName(application.name)}</a>`,
    markup`<a href="/admin/users/${application.ownerId}">${owners.get(application.ownerId)}</a>`,
    statusBadge(visitor, application.status),
    words.text(`authLevels.${application.authLevel}`),
    scopeNames(visitor, application.allowedScopes),
    application.quotaProfile,
    application.proposed !== null && badge('fair', words.text('reviews.waiting')),
  ]);
  const columns = [
    words.text('common.name'),
    words.text('common.owner'),
    words.text('common.status'),
    words.text('reviews.review'),
    words.text('fields.scopes'),
    words.text('fields.quota_profile'),
    words.text('reviews.change'),
  ];
  const here = proposed ? '?proposed=true' : status === undefined ? '' : `?status=${status}`;
  return markup`${sections(visitor, '/admin/applications')}
${statusFilter(visitor, status, proposed)}
${dataTable(words.text('admin.applications'), columns, rows, words.text('reviews.none'))}
${pager(visitor, `/admin/applications${here}`, page, hasMore)}`;
}

function statusFilter({ words }: Visitor, status: ApplicationStatus | undefined, proposed: boolean): Html {
  const link = (query: string, label: string, isHere: boolean): Html =>
    markup`<a class="button${isHere && ' primary'}" href="/admin/applications${query}"${isHere && new Html(' aria-current="true"')}>${label}</a>`;
  return markup`<nav class="actions spaced" aria-label="${words.text('common.status')}">
${link('', words.text('common.all'), status === undefined && !proposed)}
${APPLICATION_STATUSES.map((one) => link(`?status=${one}`, words.text(`statuses.${one}`), one === status && !proposed))}
${link('?proposed=true', words.text('reviews.changed'), proposed)}
</nav>`;
}

interface ReviewFacts {
  readonly application: Application;
  readonly owner: string;
  /** Names of the existing quota profiles. */
  readonly profiles: readonly string[];
}

export function reviewPage(visitor: Visitor, known: ReviewFacts, state: ReviewState): Html {
  const { words } = visitor;
  const { application, owner } = known;
  const overview = facts([
    [words.text('developer.clientId'), markup`<code>${application.clientId}</code>`],
    [words.text('common.owner'), markup`<a href="/admin/users/${application.ownerId}">${owner}</a>`],
    [words.text('common.description'), application.description],
    [words.text('fields.kind'), words.text(`developer.kinds.${application.kind}`)],
    [words.text('fields.redirect_uris'), uriList(application.redirectUris)],
    [words.text('fields.scopes'), scopeNames(visitor, application.allowedScopes)],
    [words.text('fields.ip_allow'), application.ipAllow.join(', ') || words.text('reviews.anyAddress')],
  ]);
  return markup`${sections(visitor, '/admin/applications')}
${card(words.text('developer.overview'), overview)}
${proposedFacts(visitor, application, words.text('reviews.proposedTitle'))}
${decisionCard(visitor, application)}
${card(words.text('reviews.review'), reviewForm(visitor, known, state))}`;
}

function reviewForm(visitor: Visitor, { application, profiles }: ReviewFacts, state: ReviewState): Html {
  const { words } = visitor;
  const { values, problem } = state;
  return form(visitor, `/admin/applications/${application.clientId}`, [
    hiddenField('seen_at', application.updatedAt.toISOString()),
    proposalChoice(visitor, application, state),
    select(visitor, {
      name: 'status',
      hint: words.text('reviews.statusHint'),
      choices: APPLICATION_STATUSES.map((value) => ({ value, label: words.text(`statuses.${value}`) })),
      value: values?.text('status') ?? application.status,
      problem,
    }),
    select(visitor, {
      name: 'auth_level',
      hint: words.text('reviews.levelHint'),
      choices: AUTH_LEVELS.map((value) => ({ value, label: words.text(`authLevels.${value}`) })),
      value: values?.text('auth_level') ?? application.authLevel,
      problem,
    }),
    checkboxes(visitor, {
      name: 'scopes',
      choices: scopeChoices(visitor),
      checked: values?.list('scopes') ?? application.allowedScopes,
      problem,
    }),
    select(visitor, {
      name: 'quota_profile',
      choices: [
        { value: '', label: words.text('developer.defaultQuota') },
        ...profiles.map((value) => ({ value, label: value })),
      ],
      value: values?.text('quota_profile') ?? application.quotaProfile ?? '',
      problem,
    }),
    submit(words.text('reviews.save')),
  ]);
}

function proposalChoice(visitor: Visitor, { proposed }: Application, { values, problem }: ReviewState): Content {
  const { words } = visitor;
  if (proposed === null) return undefined;
  return select(visitor, {
    name: 'proposal',
    hint: words.text('reviews.proposalHint'),
    choices: [
      { value: '', label: words.text('reviews.proposals.later') },
      { value: 'accept', label: words.text('reviews.proposals.accept') },
      { value: 'refuse', label: words.text('reviews.proposals.refuse') },
    ],
    value: values?.text('proposal') ?? '',
    problem,
  });
}
