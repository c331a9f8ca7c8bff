import type { AppError } from '@gatehouse/platform';
import { APPLICATION_KINDS, type Application } from '../../applications/application-rows.js';
import type { ApplicationStatus } from '../../credentials/credential-records.js';
import { OPEN_SCOPES } from '../../credentials/caller.js';
import { checkboxes, field, form, select, submit, textArea } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { scopeChoices, scopeNames } from '../parts/scope-words.js';
import { badge, card, dataTable, type BadgeTone } from '../parts/tables.js';
import type { Visitor } from '../../wire/visitor.js';

export function applicationsPage(
  visitor: Visitor,
  applications: readonly Application[],
  { values, problem }: { values?: FormValues; problem?: AppError | undefined },
): Html {
  const { words } = visitor;
  const rows = applications.map((application) => [
    markup`<a href="/developer/${application.clientId}">${application.name}</a>`,
    markup`<code>${application.clientId}</code>`,
    statusBadge(visitor, application.status),
    words.text(`authLevels.${application.authLevel}`),
    scopeNames(visitor, application.allowedScopes),
  ]);
  const columns = [
    words.text('common.name'),
    words.text('developer.clientId'),
    words.text('common.status'),
    words.text('developer.review'),
    words.text('fields.scopes'),
  ];
  return markup`${card(
    words.text('developer.caption'),
    dataTable(words.text('developer.caption'), columns, rows, words.text('developer.none')),
  )}
${card(
  words.text('developer.registerTitle'),
  markup`<p>${words.text('developer.registerText')}</p>
${form(visitor, '/developer', registrationFields(visitor, values, problem))}`,
)}`;
}

function registrationFields(visitor: Visitor, values: FormValues | undefined, problem: AppError | undefined): Content {
  const { words } = visitor;
  return [
    field(visitor, { name: 'name', value: values?.text('name'), problem }),
    textArea(visitor, { name: 'description', optional: true, value: values?.text('description'), problem }),
    select(visitor, {
      name: 'kind',
      choices: APPLICATION_KINDS.map((value) => ({ value, label: words.text(`developer.kinds.${value}`) })),
      value: values?.text('kind') ?? 'confidential',
      problem,
    }),
    textArea(visitor, {
      name: 'redirect_uris',
      hint: words.text('developer.redirectHint'),
      check: '/developer/redirect-check',
      value: values?.text('redirect_uris'),
      problem,
    }),
    checkboxes(visitor, {
      name: 'scopes',
      choices: scopeChoices(visitor),
      checked: values?.list('scopes') ?? OPEN_SCOPES,
      problem,
    }),
    submit(words.text('developer.register')),
  ];
}

const TONES: Readonly<Record<ApplicationStatus, BadgeTone>> = {
  pending: 'fair',
  approved: 'good',
  rejected: 'bad',
  disabled: 'bad',
};

export function statusBadge({ words }: Visitor, status: ApplicationStatus): Html {
  return badge(TONES[status], words.text(`statuses.${status}`));
}
