/** What an application has of one user. */
export interface Tokens {
  readonly accessToken: string;
  /** Used once: the answer has the next one. */
  readonly refreshToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly scopes: readonly string[];
  /** With the scope `openid`. */
  readonly idToken?: string;
}

/**
 * Keeps the tokens of one user: in a file, a database, a keychain. `save` has to be durable when it resolves, because the
 * refresh token before is worth nothing from then on.
 */
export interface TokenStore {
  load(): Promise<Tokens | undefined>;
  /** Undefined: the user has to sign in again. */
  save(tokens: Tokens | undefined): Promise<void>;
}

/** Forgets them with the process. */
export class MemoryTokens implements TokenStore {
  private tokens: Tokens | undefined;

  constructor(tokens?: Tokens) {
    this.tokens = tokens;
  }

  load(): Promise<Tokens | undefined> {
    return Promise.resolve(this.tokens);
  }

  save(tokens: Tokens | undefined): Promise<void> {
    this.tokens = tokens;
    return Promise.resolve();
  }
}
