import { API_KEY_SCOPES, type ApiKeyScope } from '@gatehouse/contracts';

/** What a key may do with a scope and those before it. */
export type KeyScopeWords = Readonly<Record<ApiKeyScope, string>>;

/** A scope and those that come before it. */
export function scopesUpTo(highest: ApiKeyScope): ApiKeyScope[] {
  return API_KEY_SCOPES.slice(0, API_KEY_SCOPES.indexOf(highest) + 1);
}

/** What a key may do. Programs can make keys that lack a scope in between: those have their scopes listed. */
export function wordsOfScopes(scopes: readonly ApiKeyScope[], may: KeyScopeWords): string {
  const highest = API_KEY_SCOPES.findLast((scope) => scopes.includes(scope));
  if (highest === undefined || scopesUpTo(highest).length !== scopes.length) return scopes.join(', ');
  return may[highest];
}
