import type { RegisteredClient } from '../../support/resource-sharing.js';

/** Where an authorization server answers; there is no introspection beside the one of RFC 7662. */
export interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly revoke: string;
  readonly introspect: string;
}

export const STANDARD: Endpoints = {
  authorize: '/oauth2/authorize',
  token: '/oauth2/token',
  revoke: '/oauth2/revoke',
  introspect: '/oauth2/introspect',
};

export const OPEN_API: Endpoints = {
  authorize: '/openapi/authorize',
  token: '/api/public/openapi/oauth/token',
  revoke: '/api/public/openapi/oauth/revoke',
  introspect: '/oauth2/introspect',
};

/** How an application says who it is at the token endpoint (RFC 6749 section 2.3.1); `none` for public ones. */
export type Authentication = 'basic' | 'post' | 'none';

export interface ClientSetup {
  readonly issuer: string;
  readonly endpoints: Endpoints;
  readonly authentication: Authentication;
  readonly client: RegisteredClient;
  readonly redirectUri: string;
  readonly scope: string;
}

export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly scope: string;
}

/** Raised by every adapter for the `error` member that its library read from an answer. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  readonly code: string;

  constructor(code: string, cause: unknown) {
    super(`the server refused with ${code}`, { cause });
    this.code = code;
  }
}

/** What an off-the-shelf library has to be able to do against the server. */
export interface OAuthClient {
  /** The address to open in a browser; keeps state and verifier for `exchange`. */
  authorizationUrl(): Promise<string>;
  /** Checks the answer that arrived at the redirect address and trades its code. */
  exchange(callback: URL): Promise<TokenSet>;
  refresh(refreshToken: string): Promise<TokenSet>;
  revoke(tokens: TokenSet): Promise<void>;
  /** Whether a token holds. */
  introspect(token: string): Promise<boolean>;
}
