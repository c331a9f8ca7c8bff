import type { GrantScope } from '../credentials/grant-scopes.js';

/** What an id_token says about an authorization. */
export interface TokenSubject {
  readonly userId: number;
  /** When the user logged in, in seconds since the epoch; null if it is not known. */
  readonly authTime: number | null;
  /** Of the authorization request; null for tokens of a refresh. */
  readonly nonce: string | null;
}

/** A pair of tokens, at the only moment when they can be read. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Lifetimes in seconds. */
  readonly expiresIn: number;
  readonly refreshExpiresIn: number;
  readonly scopes: readonly GrantScope[];
  readonly subject: TokenSubject;
  /** OpenID Connect Core section 2, where the user granted `openid`. */
  readonly idToken?: string;
}

/** Members of RFC 6749 section 5.1, for the top level of an answer. */
export function standardMembers(tokens: IssuedTokens): Record<string, unknown> {
  return {
    access_token: tokens.accessToken,
    token_type: 'Bearer',
    expires_in: tokens.expiresIn,
    refresh_token: tokens.refreshToken,
    scope: tokens.scopes.join(' '),
    ...(tokens.idToken === undefined ? {} : { id_token: tokens.idToken }),
  };
}

/** `data` of the spec's token result. */
export function tokenResult(tokens: IssuedTokens): Record<string, unknown> {
  return {
    access_token: tokens.accessToken,
    refresh_token: tokens.refreshToken,
    token_type: 'Bearer',
    expires_in: tokens.expiresIn,
    refresh_expires_in: tokens.refreshExpiresIn,
    scope: tokens.scopes.join(' '),
    scopes: tokens.scopes,
    ...(tokens.idToken === undefined ? {} : { id_token: tokens.idToken }),
  };
}
