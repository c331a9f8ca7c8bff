import type { OpenScope } from '../credentials/caller.js';

/** A pair of tokens, at the only moment when they can be read. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Lifetimes in seconds. */
  readonly expiresIn: number;
  readonly refreshExpiresIn: number;
  readonly scopes: readonly OpenScope[];
}

/** Members of RFC 6749 section 5.1, for the top level of an answer. */
export function standardMembers(tokens: IssuedTokens): Record<string, unknown> {
  return {
    access_token: tokens.accessToken,
    token_type: 'Bearer',
    expires_in: tokens.expiresIn,
    refresh_token: tokens.refreshToken,
    scope: tokens.scopes.join(' '),
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
  };
}
