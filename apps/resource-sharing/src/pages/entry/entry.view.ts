import type { AppError } from '@gatehouse/platform';
import { MIN_PASSWORD_LENGTH } from '../../site/site.dto.js';
import { field, form, hiddenField, submit } from '../parts/forms.js';
import { Html, linkTo, markup, type Content } from '../parts/markup.js';
import { loginPath } from '../parts/return-address.js';
import type { Visitor } from '../../wire/visitor.js';

interface EntryForm {
  readonly returnTo: string | undefined;
  readonly username: string | undefined;
  readonly problem: AppError | undefined;
}

export function loginForm(visitor: Visitor, { returnTo, username: value, problem }: EntryForm): Html {
  const { words } = visitor;
  const register = linkTo(loginPath(returnTo, '/register'));
  return markup`${form(visitor, '/login', [
    goingOn(returnTo),
    field(visitor, { name: 'username', autocomplete: 'username', value, problem }),
    field(visitor, { name: 'password', type: 'password', autocomplete: 'current-password', problem }),
    submit(words.text('entry.signInTitle')),
  ])}
<p><a href="/forgot-password">${words.text('recovery.forgottenLink')}</a></p>
<p>${words.rich<Content, 'entry.noAccount'>('entry.noAccount', { a: register })}</p>`;
}

/** `ticket`: stands for the password, which was right. */
export function codeForm(
  visitor: Visitor,
  { returnTo, ticket, problem }: { returnTo: string | undefined; ticket: string; problem: AppError | undefined },
): Html {
  const { words } = visitor;
  return markup`<p>${words.text('factor.signInText')}</p>
${form(visitor, '/login/code', [
  goingOn(returnTo),
  hiddenField('ticket', ticket),
  field(visitor, { name: 'code', hint: words.text('factor.codeHint'), autocomplete: 'one-time-code', problem }),
  submit(words.text('factor.signIn')),
])}
<p><a href="${loginPath(returnTo)}">${words.text('factor.otherAccount')}</a></p>`;
}

export function registrationForm(
  visitor: Visitor,
  { returnTo, username, email, problem, isOpen }: EntryForm & { email: string | undefined; isOpen: boolean },
): Html {
  const { words } = visitor;
  if (!isOpen) return markup`<p>${words.text('entry.closed')}</p>`;
  return markup`${form(visitor, '/register', [
    goingOn(returnTo),
    field(visitor, {
      name: 'username',
      hint: words.text('entry.usernameHint'),
      autocomplete: 'username',
      value: username,
      problem,
    }),
    field(visitor, { name: 'email', type: 'email', autocomplete: 'email', optional: true, value: email, problem }),
    field(visitor, {
      name: 'password',
      hint: words.text('entry.passwordHint', { length: MIN_PASSWORD_LENGTH }),
      type: 'password',
      autocomplete: 'new-password',
      problem,
    }),
    submit(words.text('entry.registerTitle')),
  ])}
<p>${words.rich<Content, 'entry.haveAccount'>('entry.haveAccount', { a: linkTo(loginPath(returnTo)) })}</p>`;
}

function goingOn(returnTo: string | undefined): Content {
  return returnTo !== undefined && hiddenField('return_to', returnTo);
}
