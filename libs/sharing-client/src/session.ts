import { SharingError, SignInRequiredError } from './sharing-error.js';
import type { TokenEndpoint } from './token-endpoint.js';
import type { Tokens, TokenStore } from './tokens.js';

/** A token that ends while a call is under way would be refused. */
const EARLY_MS = 30_000;

/** The tokens of one user: refreshed before they end, once, however many calls need them. */
export class Session {
  private readonly store: TokenStore;
  private readonly endpoint: TokenEndpoint;
  private refreshing: Promise<Tokens> | undefined;

  constructor(store: TokenStore, endpoint: TokenEndpoint) {
    this.store = store;
    this.endpoint = endpoint;
  }

  async save(tokens: Tokens | undefined): Promise<void> {
    await this.store.save(tokens);
  }

  load(): Promise<Tokens | undefined> {
    return this.store.load();
  }

  /** Undefined: nobody has signed in. @throws SignInRequiredError if the authorization has ended */
  async accessToken(): Promise<string | undefined> {
    if (this.refreshing !== undefined) return (await this.refreshing).accessToken;
    const tokens = await this.store.load();
    if (tokens === undefined) return undefined;
    if (tokens.expiresAt - EARLY_MS > Date.now()) return tokens.accessToken;
    return (await this.refresh()).accessToken;
  }

  /** After the service refused `refused`. Another call, or another process, may have replaced it already. */
  async accessTokenAfter(refused: string): Promise<string> {
    if (this.refreshing !== undefined) return (await this.refreshing).accessToken;
    const tokens = await this.store.load();
    if (tokens !== undefined && tokens.accessToken !== refused) return tokens.accessToken;
    return (await this.refresh()).accessToken;
  }

  private refresh(): Promise<Tokens> {
    this.refreshing ??= this.renewed().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  private async renewed(): Promise<Tokens> {
    const before = await this.store.load();
    if (before === undefined) throw signInRequired();
    try {
      const tokens = await this.endpoint.refresh(before.refreshToken);
      // Stored before it is used: the former one is worth nothing now.
      await this.store.save(tokens);
      return tokens;
    } catch (error) {
      if (!(error instanceof SharingError) || error.code !== 'invalid_grant') throw error;
      const now = await this.store.load();
      if (now !== undefined && now.refreshToken !== before.refreshToken) return now;
      await this.store.save(undefined);
      throw signInRequired(error);
    }
  }
}

function signInRequired(cause?: SharingError): SignInRequiredError {
  return new SignInRequiredError({
    status: cause?.status ?? 401,
    code: cause?.code ?? 'SIGN_IN_REQUIRED',
    message: cause?.message ?? 'The user has to sign in',
    requestId: cause?.requestId,
    cause,
  });
}
