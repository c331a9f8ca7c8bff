import type { AppError } from '@gatehouse/platform';
import { APPLICATION_KINDS, type Application } from '../../applications/application-rows.js';
import type { ApplicationKind } from '../../credentials/credential-records.js';
import { OPEN_SCOPES } from '../../credentials/caller.js';
import { checkboxes, field, form, select, submit, textArea } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { dataTable } from '../parts/tables.js';
import type { Visitor } from '../../wire/visitor.js';

const KINDS: Readonly<Record<ApplicationKind, string>> = {
  confidential: 'Server: it can keep a secret',
  public: 'In the browser: it cannot keep a secret',
  native: 'On a device: it cannot keep a secret',
};

export const REDIRECT_HINT =
  'One a line, complete and exact. https, or http on a loopback address; applications on a device may use a scheme such as com.example.app:/callback.';

export function applicationsPage(
  visitor: Visitor,
  applications: readonly Application[],
  { values, problem }: { values?: FormValues; problem?: AppError | undefined },
): Html {
  const rows = applications.map((application) => [
    markup`<a href="/developer/${application.clientId}">${application.name}</a>`,
    markup`<code>${application.clientId}</code>`,
    application.status,
    application.authLevel,
    application.allowedScopes.join(', '),
  ]);
  return markup`${dataTable(
    'Your applications',
    ['Name', 'Client id', 'Status', 'Review', 'Scopes'],
    rows,
    'You have registered no application yet.',
  )}
<h2>Register an application</h2>
<p>Until it is reviewed, it serves you and up to five test users.</p>
${form(visitor, '/developer', [
  field({ name: 'name', label: 'Name', value: values?.text('name'), problem }),
  textArea({ name: 'description', label: 'What it does', optional: true, value: values?.text('description'), problem }),
  select({
    name: 'kind',
    label: 'Where it runs',
    choices: APPLICATION_KINDS.map((value) => ({ value, label: KINDS[value] })),
    value: values?.text('kind') ?? 'confidential',
    problem,
  }),
  textArea({
    name: 'redirect_uris',
    label: 'Redirect addresses',
    hint: REDIRECT_HINT,
    value: values?.text('redirect_uris'),
    problem,
  }),
  checkboxes({
    name: 'scopes',
    label: 'What it may ask for',
    choices: scopeChoices(),
    checked: values?.list('scopes') ?? OPEN_SCOPES,
    problem,
  }),
  submit('Register'),
])}`;
}
