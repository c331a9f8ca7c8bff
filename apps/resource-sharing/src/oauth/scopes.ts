import { OPEN_SCOPES, type OpenScope } from '../credentials/caller.js';
import { OAuthError } from './oauth-error.js';

const KNOWN: ReadonlySet<string> = new Set(OPEN_SCOPES);

/** A space-separated scope; undefined if none was sent. @throws invalid_scope for an unknown one. */
export function readScope(text: string | undefined): OpenScope[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(' ').filter((name) => name !== '');
  if (names.length === 0) return undefined;
  if (names.some((name) => !KNOWN.has(name))) {
    throw new OAuthError('invalid_scope', `The scopes are ${OPEN_SCOPES.join(', ')}`);
  }
  return OPEN_SCOPES.filter((scope) => names.includes(scope));
}
