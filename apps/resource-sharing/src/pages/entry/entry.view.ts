import type { AppError } from '@gatehouse/platform';
import { MIN_PASSWORD_LENGTH } from '../../site/site.dto.js';
import { field, form, hiddenField, submit } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { loginPath } from '../parts/return-address.js';
import type { Visitor } from '../../wire/visitor.js';

interface EntryForm {
  readonly returnTo: string | undefined;
  readonly username: string | undefined;
  readonly problem: AppError | undefined;
}

export function loginForm(visitor: Visitor, { returnTo, username: value, problem }: EntryForm): Html {
  return markup`${form(visitor, '/login', [
    goingOn(returnTo),
    field({ name: 'username', label: 'User name', autocomplete: 'username', value, problem }),
    field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', problem }),
    submit('Log in'),
  ])}
<p>No account yet? <a href="${loginPath(returnTo, '/register')}">Register</a></p>`;
}

export function registrationForm(
  visitor: Visitor,
  { returnTo, username, email, problem, isOpen }: EntryForm & { email: string | undefined; isOpen: boolean },
): Html {
  if (!isOpen) return markup`<p>Nobody can register here. Ask the administrator for an account.</p>`;
  return markup`${form(visitor, '/register', [
    goingOn(returnTo),
    field({
      name: 'username',
      label: 'User name',
      hint: '3 to 32 letters, digits, dots, dashes and underscores, beginning with a letter.',
      autocomplete: 'username',
      value: username,
      problem,
    }),
    field({
      name: 'email',
      label: 'Email',
      type: 'email',
      autocomplete: 'email',
      optional: true,
      value: email,
      problem,
    }),
    field({
      name: 'password',
      label: 'Password',
      hint: `At least ${MIN_PASSWORD_LENGTH} characters; a few words are easier to keep in mind.`,
      type: 'password',
      autocomplete: 'new-password',
      problem,
    }),
    submit('Register'),
  ])}
<p>Registered already? <a href="${loginPath(returnTo)}">Log in</a></p>`;
}

function goingOn(returnTo: string | undefined): Content {
  return returnTo !== undefined && hiddenField('return_to', returnTo);
}
