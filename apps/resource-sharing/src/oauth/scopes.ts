import { GRANT_SCOPES, grantScopes, type GrantScope } from '../credentials/grant-scopes.js';
import { OAuthError } from './oauth-error.js';

const KNOWN: ReadonlySet<string> = new Set(GRANT_SCOPES);

/**
 * A space-separated scope; undefined if none was sent. Beside `openid`, unknown ones are ignored (OpenID Connect Core
 * section 3.1.2.1), such as `offline_access`, which all tokens have anyway.
 * @throws invalid_scope for an unknown one, and for `profile` and `email` without `openid`.
 */
export function readScope(text: string | undefined): GrantScope[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(' ').filter((name) => name !== '');
  if (names.length === 0) return undefined;
  if (names.includes('openid')) return grantScopes(names);
  if (names.some((name) => !KNOWN.has(name))) {
    throw new OAuthError('invalid_scope', `The scopes are ${GRANT_SCOPES.join(', ')}`);
  }
  if (names.includes('profile') || names.includes('email')) {
    throw new OAuthError('invalid_scope', 'The scopes profile and email need openid');
  }
  return grantScopes(names);
}
