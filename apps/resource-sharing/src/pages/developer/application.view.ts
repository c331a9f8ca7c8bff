import type { AppError } from '@gatehouse/platform';
import type { FormValues } from '../parts/form-values.js';
import type { Application, CredentialInfo } from '../../applications/application-rows.js';
import type { Usage } from '../../usage/usage-reader.js';
import { actionForm, checkbox, checkboxes, field, form, select, submit, textArea } from '../parts/forms.js';
import { Html, markup } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { dataTable, facts } from '../parts/tables.js';
import { timeIn } from '../parts/times.js';
import type { Visitor } from '../../wire/visitor.js';
import { proposedFacts } from './proposed.view.js';
import { usageTables } from './usage.view.js';
import { REDIRECT_HINT } from './developer.view.js';

export interface ApplicationPageState {
  /** A secret at the only time when it can be read. */
  readonly shown?: Html;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

export interface ApplicationFacts {
  readonly application: Application;
  readonly secrets: readonly CredentialInfo[];
  readonly testUsers: readonly string[];
  /** Of the last 30 days. */
  readonly usage: Usage;
  readonly timeZone: string;
}

type Refused = Pick<ApplicationPageState, 'values' | 'problem'>;

const OVERLAPS = [
  { value: '0', label: 'not at all' },
  { value: '3600', label: 'an hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: 'a week' },
  { value: '2592000', label: '30 days' },
];

export function applicationPage(visitor: Visitor, known: ApplicationFacts, state: ApplicationPageState): Html {
  const { application, secrets, timeZone } = known;
  const { clientId } = application;
  return markup`${state.shown}
${facts([
  ['Client id', markup`<code>${clientId}</code>`],
  ['Kind', application.kind],
  ['Status', application.status],
  ['Review', application.authLevel],
  ['Proof of code (PKCE)', application.pkceRequired ? 'needed' : 'where it is sent'],
  ['Limits', application.quotaProfile ?? 'the usual ones'],
])}
${proposedFacts(application, 'Waits for a review')}
<h2>Secrets</h2>
${secretTable(visitor, clientId, secrets, timeZone)}
${form(visitor, `/developer/${clientId}/secrets`, [
  select({
    name: 'overlap_seconds',
    label: 'The present secret holds',
    hint: 'So that what uses it can change over to the new one. Older ones end at once.',
    choices: OVERLAPS,
    value: '604800',
  }),
  application.boundUserId === application.ownerId &&
    field({
      name: 'current_password',
      label: 'Your password',
      hint: 'The application acts for you: its secret is as good as a key of yours.',
      type: 'password',
      autocomplete: 'current-password',
      id: 'secret-password',
    }),
  submit('Make a new secret'),
])}
<h2>Usage</h2>
${usageTables(known.usage)}
<h2>Settings</h2>
${settingsForm(visitor, known, state.values === undefined ? undefined : state)}
<h2>Remove</h2>
${form(visitor, `/developer/${clientId}/delete`, [
  markup`<p>Its secrets, authorizations and tokens end. This cannot be undone.</p>`,
  submit('Remove the application', 'danger'),
])}`;
}

function secretTable(visitor: Visitor, clientId: string, secrets: readonly CredentialInfo[], timeZone: string): Html {
  const time = timeIn(timeZone);
  const rows = secrets.map((secret) => [
    markup`<code>${secret.prefix}…${secret.lastFour}</code>`,
    time(secret.createdAt),
    time(secret.expiresAt),
    time(secret.lastUsedAt),
    actionForm(visitor, `/developer/${clientId}/secrets/${secret.id}/end`, 'End now', {
      style: 'danger',
      about: `secret …${secret.lastFour}`,
    }),
  ]);
  return dataTable('Live secrets', ['Secret', 'Since', 'Ends', 'Last used', ''], rows, 'No secret holds.');
}

function settingsForm(
  visitor: Visitor,
  { application, testUsers }: ApplicationFacts,
  refused: Refused | undefined,
): Html {
  const { values, problem } = refused ?? {};
  const shown = { ...application, ...application.proposed };
  return form(visitor, `/developer/${application.clientId}`, [
    application.authLevel !== 'unverified' &&
      markup`<p>A new name, description or redirect address waits until an administrator has seen it.</p>`,
    field({ name: 'name', label: 'Name', value: values?.text('name') ?? shown.name, problem }),
    textArea({
      name: 'description',
      label: 'What it does',
      optional: true,
      value: values?.text('description') ?? shown.description,
      problem,
    }),
    textArea({
      name: 'redirect_uris',
      label: 'Redirect addresses',
      hint: REDIRECT_HINT,
      value: values?.text('redirect_uris') ?? shown.redirectUris.join('\n'),
      problem,
    }),
    checkboxes({
      name: 'scopes',
      label: 'What it may ask for',
      choices: scopeChoices(),
      checked: values?.list('scopes') ?? application.allowedScopes,
      problem,
    }),
    ...accessFields(application, testUsers, refused),
    submit('Save'),
  ]);
}

/** Who may allow the application, from where it may call, and for whom without a user. */
function accessFields(application: Application, testUsers: readonly string[], refused: Refused | undefined): Html[] {
  const { values, problem } = refused ?? {};
  return [
    field({
      name: 'test_users',
      label: 'Test users',
      hint: 'Up to five user names with commas between them; they can allow it before it is reviewed.',
      optional: true,
      value: values?.text('test_users') ?? testUsers.join(', '),
      problem,
    }),
    textArea({
      name: 'ip_allow',
      label: 'Accepted from',
      hint: 'Addresses or ranges such as 192.0.2.0/24, one a line. Empty: from everywhere.',
      optional: true,
      value: values?.text('ip_allow') ?? application.ipAllow.join('\n'),
      problem,
    }),
    checkbox({
      name: 'bound_to_owner',
      label: 'Calls without a user token act for me',
      checked: values?.isChecked('bound_to_owner') ?? application.boundUserId === application.ownerId,
    }),
    application.boundUserId === application.ownerId
      ? markup``
      : field({
          name: 'current_password',
          label: 'Your password',
          hint: 'Needed only to let it act for you: its secret is then as good as a key of yours.',
          type: 'password',
          autocomplete: 'current-password',
          optional: true,
          problem,
        }),
  ];
}
