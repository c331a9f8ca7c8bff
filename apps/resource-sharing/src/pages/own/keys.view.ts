import type { AppError } from '@gatehouse/platform';
import type { CredentialInfo } from '../../applications/application-rows.js';
import { actionForm, checkboxes, field, form, submit, textArea } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { dataTable } from '../parts/tables.js';
import { timeIn } from '../parts/times.js';
import type { Visitor } from '../../wire/visitor.js';

interface State {
  readonly shown?: Html;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
  readonly timeZone: string;
}

export function keysPage(visitor: Visitor, keys: readonly CredentialInfo[], state: State): Html {
  const { shown, timeZone } = state;
  const time = timeIn(timeZone);
  const rows = keys.map((key) => [
    key.name,
    markup`<code>${key.prefix}…${key.lastFour}</code>`,
    key.scopes?.join(', '),
    time(key.expiresAt),
    [time(key.lastUsedAt), key.lastUsedIp !== null && ` from ${key.lastUsedIp}`],
    actionForm(visitor, `/keys/${key.id}/end`, 'End', { style: 'danger', about: key.name }),
  ]);
  return markup`${shown}
<p>With a personal key in the header <code>X-API-Key</code> your own programs act for you.</p>
${dataTable('Your keys', ['Name', 'Key', 'Scopes', 'Ends', 'Last used', ''], rows, 'You have no key.')}
<h2>Make a key</h2>
${keyForm(visitor, state)}`;
}

function keyForm(visitor: Visitor, { values, problem }: State): Html {
  return form(visitor, '/keys', [
    field({ name: 'name', label: 'Name', hint: 'What it is for.', value: values?.text('name'), problem }),
    checkboxes({
      name: 'scopes',
      label: 'It may',
      choices: scopeChoices(),
      checked: values?.list('scopes') ?? ['meta', 'query'],
      problem,
    }),
    field({
      name: 'expires_at',
      label: 'Ends on',
      type: 'date',
      optional: true,
      value: values?.text('expires_at'),
      problem,
    }),
    textArea({
      name: 'ip_allow',
      label: 'Accepted from',
      hint: 'Addresses or ranges such as 192.0.2.0/24, one a line. Empty: from everywhere.',
      optional: true,
      value: values?.text('ip_allow'),
      problem,
    }),
    field({
      name: 'current_password',
      label: 'Your password',
      hint: 'A key stays when you log out.',
      type: 'password',
      autocomplete: 'current-password',
      problem,
    }),
    submit('Make the key'),
  ]);
}
