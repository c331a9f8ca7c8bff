import type { AppError } from '@gatehouse/platform';
import type { CredentialInfo } from '../../applications/application-rows.js';
import { actionForm, checkboxes, codeField, field, form, submit, textArea } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { code, Html, markup, type Content } from '../parts/markup.js';
import { scopeChoices, scopeNames } from '../parts/scope-words.js';
import { card, dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import type { Member, Visitor } from '../../wire/visitor.js';

interface State {
  readonly shown?: Html;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

export function keysPage(visitor: Member, keys: readonly CredentialInfo[], state: State): Html {
  const { words } = visitor;
  return markup`${state.shown}
<p>${words.rich<Content, 'keys.intro'>('keys.intro', { code })}</p>
${card(words.text('keys.caption'), keyTable(visitor, keys))}
${card(words.text('keys.createTitle'), keyForm(visitor, state))}`;
}

function keyTable(visitor: Visitor, keys: readonly CredentialInfo[]): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = keys.map((key) => [
    key.name,
    markup`<code>${key.prefix}&hellip;${key.lastFour}</code>`,
    key.scopes && scopeNames(visitor, key.scopes),
    time(key.expiresAt),
    [
      time(key.lastUsedAt),
      key.lastUsedIp !== null &&
        markup`<span class="second">${words.text('common.from', { address: key.lastUsedIp })}</span>`,
    ],
    actionForm(visitor, `/keys/${key.id}/end`, words.text('common.revoke'), { style: 'danger', about: key.name }),
  ]);
  const columns = [
    words.text('common.name'),
    words.text('keys.key'),
    words.text('fields.scopes'),
    words.text('common.expires'),
    words.text('common.lastUsed'),
    '',
  ];
  return dataTable(words.text('keys.caption'), columns, rows, words.text('keys.none'));
}

function keyForm(visitor: Member, { values, problem }: State): Html {
  const { words } = visitor;
  return form(visitor, '/keys', [
    field(visitor, { name: 'name', hint: words.text('keys.nameHint'), value: values?.text('name'), problem }),
    checkboxes(visitor, {
      name: 'scopes',
      choices: scopeChoices(visitor),
      checked: values?.list('scopes') ?? ['meta', 'query'],
      problem,
    }),
    field(visitor, {
      name: 'expires_at',
      type: 'date',
      optional: true,
      value: values?.text('expires_at'),
      problem,
    }),
    textArea(visitor, {
      name: 'ip_allow',
      hint: words.text('keys.ipHint'),
      optional: true,
      value: values?.text('ip_allow'),
      problem,
    }),
    field(visitor, {
      name: 'current_password',
      hint: words.text('keys.passwordHint'),
      type: 'password',
      autocomplete: 'current-password',
      problem,
    }),
    codeField(visitor, { problem }),
    submit(words.text('keys.create')),
  ]);
}
