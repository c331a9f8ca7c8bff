import type { AppError } from '@gatehouse/platform';
import { MIN_PASSWORD_LENGTH } from '../../site/site.dto.js';
import type { Visitor } from '../../wire/visitor.js';
import { field, form, hiddenField, submit } from '../parts/forms.js';
import { Html, markup } from '../parts/markup.js';

export function forgottenForm(visitor: Visitor, account: string | undefined, problem: AppError | undefined): Html {
  const { words } = visitor;
  return markup`<p>${words.text('recovery.forgottenText')}</p>
${form(visitor, '/forgot-password', [
  field(visitor, { name: 'account', autocomplete: 'username', value: account, problem }),
  submit(words.text('recovery.send')),
])}
<p><a href="/login">${words.text('recovery.back')}</a></p>`;
}

export function resetForm(
  visitor: Visitor,
  { token, isUsable, problem }: { token: string; isUsable: boolean; problem: AppError | undefined },
): Html {
  const { words } = visitor;
  if (!isUsable) {
    return markup`<p>${words.text('recovery.outdated')}</p>
<p><a href="/forgot-password">${words.text('recovery.again')}</a></p>`;
  }
  return markup`<p>${words.text('recovery.resetText')}</p>
${form(visitor, '/reset-password', [
  hiddenField('token', token),
  field(visitor, {
    name: 'new_password',
    hint: words.text('entry.passwordHint', { length: MIN_PASSWORD_LENGTH }),
    type: 'password',
    autocomplete: 'new-password',
    problem,
  }),
  submit(words.text('recovery.setPassword')),
])}`;
}

export function verificationForm(visitor: Visitor, token: string): Html {
  const { words } = visitor;
  return markup`<p>${words.text('recovery.verifyText')}</p>
${form(visitor, '/verify-email', [hiddenField('token', token), submit(words.text('recovery.verify'))])}`;
}
