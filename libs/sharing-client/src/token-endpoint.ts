import { withRetries, type RetryOptions } from './retries.js';
import { errorOf, factsOf, SharingError } from './sharing-error.js';
import type { Tokens } from './tokens.js';

export interface ClientIdentity {
  /** Of the service, without a slash at its end. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** Of an application on a server; others prove themselves by PKCE. */
  readonly secret: string | undefined;
  readonly fetch: typeof fetch;
}

/** RFC 8628 section 3.2. */
export interface DeviceCode {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete?: string;
  readonly expires_in: number;
  readonly interval?: number;
}

interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly id_token?: string;
}

/**
 * A refresh whose answer was lost may be repeated for twenty seconds: the service then gives the same successor. After
 * that the repetition looks like a stolen token, which ends the authorization.
 */
const REFRESH_RETRIES: RetryOptions = { attempts: 4, firstWaitMs: 300, longestWaitMs: 3_000 };
const NO_RETRIES: RetryOptions = { attempts: 1, firstWaitMs: 0, longestWaitMs: 0 };

/** The authorization server's endpoints for applications (RFC 6749, 7009, 8628). */
export class TokenEndpoint {
  private readonly client: ClientIdentity;

  constructor(client: ClientIdentity) {
    this.client = client;
  }

  /** Not repeated: a code works once. @throws SharingError */
  async exchange(code: string, redirectUri: string, verifier: string): Promise<Tokens> {
    const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    return this.tokens(grant, NO_RETRIES);
  }

  /** @throws SharingError with the code `invalid_grant` if the authorization has ended. */
  async refresh(refreshToken: string): Promise<Tokens> {
    return this.tokens({ grant_type: 'refresh_token', refresh_token: refreshToken }, REFRESH_RETRIES);
  }

  async deviceCode(scopes: readonly string[]): Promise<DeviceCode> {
    const response = await this.post('/oauth2/device_authorization', { scope: scopes.join(' ') }, NO_RETRIES);
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as DeviceCode;
  }

  /** Undefined: not yet. `slower`: the service wants longer pauses. @throws SharingError if the user refused, or too late */
  async poll(deviceCode: string): Promise<{ tokens: Tokens } | { slower: boolean }> {
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: deviceCode };
    try {
      return { tokens: await this.tokens(grant, NO_RETRIES) };
    } catch (error) {
      if (!(error instanceof SharingError)) throw error;
      if (error.code === 'authorization_pending' || error.status === 0) return { slower: error.status === 0 };
      if (error.code === 'slow_down') return { slower: true };
      throw error;
    }
  }

  /** Ends the authorization. */
  async revoke(refreshToken: string): Promise<void> {
    const response = await this.post('/oauth2/revoke', { token: refreshToken }, REFRESH_RETRIES);
    if (!response.ok) throw await errorOf(response);
  }

  private async tokens(grant: Record<string, string>, retries: RetryOptions): Promise<Tokens> {
    const askedAt = Date.now();
    const response = await this.post('/oauth2/token', grant, retries);
    if (!response.ok) throw new SharingError(await factsOf(response));
    const answer = (await response.json()) as TokenAnswer;
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token,
      expiresAt: askedAt + answer.expires_in * 1_000,
      scopes: answer.scope.split(' '),
      ...(answer.id_token !== undefined && { idToken: answer.id_token }),
    };
  }

  private post(path: string, fields: Record<string, string>, retries: RetryOptions): Promise<Response> {
    const { baseUrl, clientId, secret, fetch: send } = this.client;
    const headers: Record<string, string> = { accept: 'application/json' };
    if (secret !== undefined) headers['authorization'] = `Basic ${btoa(`${clientId}:${encodeURIComponent(secret)}`)}`;
    const body = new URLSearchParams(secret === undefined ? { ...fields, client_id: clientId } : fields);
    return withRetries({ send: () => send(`${baseUrl}${path}`, { method: 'POST', headers, body }) }, retries);
  }
}
