import { OPEN_SCOPES, type OpenScope } from './caller.js';

/** Scopes of OpenID Connect Core section 5.4: who the user is. No operation of the open API needs them. */
export const IDENTITY_SCOPES = ['openid', 'profile', 'email'] as const;
export type IdentityScope = (typeof IDENTITY_SCOPES)[number];

/** What a user can grant. */
export type GrantScope = OpenScope | IdentityScope;
export const GRANT_SCOPES: readonly GrantScope[] = [...OPEN_SCOPES, ...IDENTITY_SCOPES];

/** The scopes among some texts, in the order of GRANT_SCOPES; those about the user only together with `openid`. */
export function grantScopes(texts: readonly string[]): GrantScope[] {
  const known: readonly GrantScope[] = texts.includes('openid') ? GRANT_SCOPES : OPEN_SCOPES;
  return known.filter((scope) => texts.includes(scope));
}

export function identityScopes(texts: readonly string[]): IdentityScope[] {
  return texts.includes('openid') ? IDENTITY_SCOPES.filter((scope) => texts.includes(scope)) : [];
}

/** What users can be asked for: who they are by every application, the rest by those that it was approved for. */
export function askable(allowed: readonly OpenScope[]): GrantScope[] {
  return [...allowed, ...IDENTITY_SCOPES];
}
