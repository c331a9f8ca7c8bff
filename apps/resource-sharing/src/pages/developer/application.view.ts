import type { AppError } from '@gatehouse/platform';
import type { RefusedCall } from '../../refused-calls/refused-calls.js';
import type { FormValues } from '../parts/form-values.js';
import { isPublic } from '../../credentials/credential-records.js';
import type { Application, CredentialInfo } from '../../applications/application-rows.js';
import {
  actionForm,
  checkbox,
  checkboxes,
  codeField,
  copyButton,
  field,
  form,
  select,
  submit,
  textArea,
} from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { card, dataTable, facts } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import type { Member } from '../../wire/visitor.js';
import type { RecentUsage } from './application-usage.js';
import { proposedFacts } from './proposed.view.js';
import { quickstart } from './quickstart.view.js';
import { refusedCallsTable } from './refused-calls.view.js';
import { usageModes, usageTables } from './usage.view.js';
import { statusBadge } from './developer.view.js';
import { testModeIntro } from './test-mode.view.js';
import { intro } from './webhooks.view.js';

export interface ApplicationPageState {
  /** A secret at the only moment when it can be read. */
  readonly shown?: Html;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
  /** The usage of test calls instead of real ones. */
  readonly showsTestCalls?: boolean;
}

export interface ApplicationFacts {
  readonly application: Application;
  readonly secrets: readonly CredentialInfo[];
  readonly testUsers: readonly string[];
  /** Of the last 30 days. */
  readonly usage: RecentUsage;
  /** Newest first. */
  readonly refused: readonly RefusedCall[];
  /** Public address of the service. */
  readonly base: string;
}

type Refused = Pick<ApplicationPageState, 'values' | 'problem'>;

const OVERLAPS = [
  ['0', 'none'],
  ['3600', 'hour'],
  ['86400', 'day'],
  ['604800', 'week'],
  ['2592000', 'month'],
] as const;

export function applicationPage(visitor: Member, known: ApplicationFacts, state: ApplicationPageState): Html {
  const { words } = visitor;
  const { application } = known;
  return markup`${state.shown}
${card(words.text('developer.overview'), overview(visitor, application))}
${proposedFacts(visitor, application, words.text('developer.proposedTitle'))}
${quickstart(visitor, application, known.base)}
${card(words.text('developer.usage'), [usageModes(visitor, application.clientId, known.usage), usageTables(visitor, known.usage)])}
${card(words.text('errorLog.title'), refusedCallsTable(visitor, known.refused))}
${card(words.text('webhooks.title'), [
  markup`<p>${intro(visitor)}</p>`,
  markup`<p><a class="button" href="/developer/${application.clientId}/webhooks">${words.text('webhooks.manage')}</a></p>`,
])}
${card(words.text('testMode.title'), [
  markup`<p>${testModeIntro(visitor)}</p>`,
  markup`<p><a class="button" href="/developer/${application.clientId}/test-mode">${words.text('testMode.manage')}</a></p>`,
])}
${card(words.text('developer.secrets'), secretPart(visitor, known))}
${card(words.text('developer.settings'), settingsForm(visitor, known, state.values === undefined ? undefined : state))}
${card(
  words.text('developer.deleteTitle'),
  form(visitor, `/developer/${application.clientId}/delete`, [
    markup`<p>${words.text('developer.deleteText')}</p>`,
    submit(words.text('developer.deleteAction'), 'danger'),
  ]),
)}`;
}

function overview(visitor: Member, application: Application): Html {
  const { words } = visitor;
  const { clientId } = application;
  return facts([
    [words.text('developer.clientId'), [markup`<code>${clientId}</code> `, copyButton(visitor, clientId)]],
    [words.text('fields.kind'), words.text(`developer.kinds.${application.kind}`)],
    [words.text('common.status'), statusBadge(visitor, application.status)],
    [words.text('developer.review'), words.text(`authLevels.${application.authLevel}`)],
    [
      words.text('developer.pkce'),
      words.text(application.pkceRequired ? 'developer.pkceRequired' : 'developer.pkceOptional'),
    ],
    [words.text('developer.quota'), application.quotaProfile ?? words.text('developer.defaultQuota')],
  ]);
}

function secretPart(visitor: Member, { application, secrets }: ApplicationFacts): Html {
  const { words } = visitor;
  const { clientId } = application;
  return markup`${isPublic(application) && markup`<p>${words.text('developer.publicSecret')}</p>`}
${secretTable(visitor, clientId, secrets)}
${form(visitor, `/developer/${clientId}/secrets`, [
  select(visitor, {
    name: 'overlap_seconds',
    hint: words.text('developer.overlapHint'),
    choices: OVERLAPS.map(([value, name]) => ({ value, label: words.text(`developer.overlaps.${name}`) })),
    value: '604800',
  }),
  application.boundUserId === application.ownerId &&
    field(visitor, {
      name: 'current_password',
      hint: words.text('developer.secretPasswordHint'),
      type: 'password',
      autocomplete: 'current-password',
      id: 'secret-password',
    }),
  application.boundUserId === application.ownerId && codeField(visitor, { id: 'secret-code' }),
  submit(words.text('developer.createSecret')),
])}`;
}

function secretTable(visitor: Member, clientId: string, secrets: readonly CredentialInfo[]): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = secrets.map((secret) => [
    markup`<code>${secret.prefix}&hellip;${secret.lastFour}</code>`,
    time(secret.createdAt),
    time(secret.expiresAt),
    time(secret.lastUsedAt),
    actionForm(visitor, `/developer/${clientId}/secrets/${secret.id}/end`, words.text('common.revoke'), {
      style: 'danger',
      about: words.text('developer.secretName', { last: secret.lastFour }),
    }),
  ]);
  const columns = [
    words.text('developer.secret'),
    words.text('common.created'),
    words.text('common.expires'),
    words.text('common.lastUsed'),
    '',
  ];
  return dataTable(words.text('developer.secretsCaption'), columns, rows, words.text('developer.noSecrets'));
}

function settingsForm(
  visitor: Member,
  { application, testUsers }: ApplicationFacts,
  refused: Refused | undefined,
): Html {
  const { words } = visitor;
  const { values, problem } = refused ?? {};
  const shown = { ...application, ...application.proposed };
  return form(visitor, `/developer/${application.clientId}`, [
    application.authLevel !== 'unverified' && markup`<p>${words.text('developer.settingsReview')}</p>`,
    field(visitor, { name: 'name', value: values?.text('name') ?? shown.name, problem }),
    textArea(visitor, {
      name: 'description',
      optional: true,
      value: values?.text('description') ?? shown.description,
      problem,
    }),
    textArea(visitor, {
      name: 'redirect_uris',
      hint: words.text('developer.redirectHint'),
      check: `/developer/redirect-check?kind=${application.kind}`,
      value: values?.text('redirect_uris') ?? shown.redirectUris.join('\n'),
      problem,
    }),
    checkboxes(visitor, {
      name: 'scopes',
      choices: scopeChoices(visitor),
      checked: values?.list('scopes') ?? application.allowedScopes,
      problem,
    }),
    ...accessFields(visitor, { application, testUsers }, refused),
    submit(words.text('common.save')),
  ]);
}

/** Test users, allowed addresses, and the user of calls without a user token. */
function accessFields(
  visitor: Member,
  { application, testUsers }: Pick<ApplicationFacts, 'application' | 'testUsers'>,
  refused: Refused | undefined,
): Content[] {
  const { words } = visitor;
  const { values, problem } = refused ?? {};
  const isBound = application.boundUserId === application.ownerId;
  return [
    field(visitor, {
      name: 'test_users',
      hint: words.text('developer.testUsersHint'),
      optional: true,
      value: values?.text('test_users') ?? testUsers.join(', '),
      problem,
    }),
    textArea(visitor, {
      name: 'ip_allow',
      hint: words.text('keys.ipHint'),
      optional: true,
      value: values?.text('ip_allow') ?? application.ipAllow.join('\n'),
      problem,
    }),
    checkbox(visitor, { name: 'bound_to_owner', checked: values?.isChecked('bound_to_owner') ?? isBound }),
    !isBound &&
      field(visitor, {
        name: 'current_password',
        hint: words.text('developer.ownerPasswordHint'),
        type: 'password',
        autocomplete: 'current-password',
        optional: true,
        problem,
      }),
    !isBound && codeField(visitor, { problem, optional: true }),
  ];
}
