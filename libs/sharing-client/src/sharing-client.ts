import createClient, { type Client } from 'openapi-fetch';
import { DEFAULT_RETRIES, withRetries, type RetryOptions } from './retries.js';
import type { paths } from './schema.js';
import { Session } from './session.js';
import { errorOf, factsOf, SharingError, SignInRequiredError } from './sharing-error.js';
import { answerOf, authorizationUrl, newSignIn, type PendingSignIn, type SignInWish } from './sign-in.js';
import { TokenEndpoint } from './token-endpoint.js';
import { MemoryTokens, type Tokens, type TokenStore } from './tokens.js';

export interface SharingClientOptions {
  /** Address of the service, such as `https://share.example.org`. */
  readonly baseUrl: string;
  /** Needed to sign users in. */
  readonly clientId?: string;
  /** Secret of an application on a server, or a personal key. Never in a browser or on a device. */
  readonly secret?: string;
  /** Keeps the tokens of one user; make a client for each user. Default: in memory. */
  readonly tokens?: TokenStore;
  /** Of the authorization server, if it is not `baseUrl`, as behind an internal address. */
  readonly issuer?: string;
  readonly retries?: Partial<RetryOptions>;
  readonly fetch?: typeof fetch;
}

export interface DeviceWish {
  readonly scopes: readonly string[];
  /** Shows the user where to go and what to enter there. */
  readonly show: (code: { userCode: string; address: string; completeAddress: string | undefined }) => void;
  readonly signal?: AbortSignal;
}

/** A token that a refresh replaces. */
const REFRESH_HELPS = new Set(['INVALID_OPENAPI_USER_TOKEN', 'OPENAPI_REFRESH_REQUIRED']);
const SIGN_IN_AGAIN = 'OPENAPI_REAUTH_REQUIRED';

/** The open API for one user of an application. */
export class SharingClient {
  /** Every operation, typed by the interface description. An answer that is no success is thrown as SharingError. */
  readonly api: Client<paths>;
  private readonly baseUrl: string;
  private readonly options: SharingClientOptions;
  private readonly retries: RetryOptions;
  private readonly endpoint: TokenEndpoint;
  private readonly session: Session;
  private readonly fetch: typeof fetch;

  constructor(options: SharingClientOptions) {
    this.options = options;
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.retries = { ...DEFAULT_RETRIES, ...options.retries };
    this.fetch = options.fetch ?? ((...call) => globalThis.fetch(...call));
    const { clientId = '', secret, tokens = new MemoryTokens() } = options;
    this.endpoint = new TokenEndpoint({ baseUrl: this.baseUrl, clientId, secret, fetch: this.fetch });
    this.session = new Session(tokens, this.endpoint);
    this.api = createClient<paths>({ baseUrl: this.baseUrl, fetch: (request) => this.call(request) });
  }

  /** Where to send the user; keep `pending` for `finishSignIn`, for this user alone. */
  async startSignIn(wish: SignInWish): Promise<{ url: string; pending: PendingSignIn }> {
    const pending = newSignIn(wish);
    return { url: await authorizationUrl(this.baseUrl, this.requireClientId(), wish, pending), pending };
  }

  /** `callback`: the address at which the user came back. @throws SharingError, also if the user refused */
  async finishSignIn(callback: string | URL, pending: PendingSignIn): Promise<Tokens> {
    const issuer = this.options.issuer ?? this.baseUrl;
    const code = answerOf(new URL(callback, pending.redirectUri), pending, issuer);
    const tokens = await this.endpoint.exchange(code, pending.redirectUri, pending.verifier);
    await this.session.save(tokens);
    return tokens;
  }

  /** Waits until the user has entered the code in a browser (RFC 8628). @throws SharingError, also if the user refused */
  async signInOnDevice({ scopes, show, signal }: DeviceWish): Promise<Tokens> {
    this.requireClientId();
    const code = await this.endpoint.deviceCode(scopes);
    const { user_code: userCode, verification_uri: address, verification_uri_complete: completeAddress } = code;
    show({ userCode, address, completeAddress });
    let waitMs = (code.interval ?? 5) * 1_000;
    for (const until = Date.now() + code.expires_in * 1_000; Date.now() < until;) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      signal?.throwIfAborted();
      const result = await this.endpoint.poll(code.device_code);
      if ('tokens' in result) {
        await this.session.save(result.tokens);
        return result.tokens;
      }
      if (result.slower) waitMs += 5_000;
    }
    throw new SharingError({ status: 0, code: 'expired_token', message: 'The code was not entered in time' });
  }

  /** Ends the authorization, here and at the service. */
  async signOut(): Promise<void> {
    const tokens = await this.session.load();
    if (tokens === undefined) return;
    await this.endpoint.revoke(tokens.refreshToken);
    await this.session.save(undefined);
  }

  private async call(request: Request): Promise<Response> {
    // With a key of its own a repeated POST is the same call: nothing is paid or shared twice.
    if (request.method === 'POST' && !request.headers.has('idempotency-key')) {
      request.headers.set('idempotency-key', crypto.randomUUID());
    }
    const { secret } = this.options;
    if (secret !== undefined) request.headers.set('x-api-key', secret);
    const token = await this.session.accessToken();
    const response = await this.send(request, token);
    if (response.ok) return response;
    if (response.status !== 401 || token === undefined) throw await errorOf(response);
    const refused = await factsOf(response);
    if (refused.code === SIGN_IN_AGAIN) throw new SignInRequiredError(refused);
    if (!REFRESH_HELPS.has(refused.code)) throw new SharingError(refused);
    const again = await this.send(request, await this.session.accessTokenAfter(token));
    if (!again.ok) throw await errorOf(again);
    return again;
  }

  private send(request: Request, token: string | undefined): Promise<Response> {
    const send = (): Promise<Response> => {
      const attempt = request.clone();
      if (token !== undefined) attempt.headers.set('authorization', `Bearer ${token}`);
      return this.fetch(attempt);
    };
    return withRetries({ send, signal: request.signal }, this.retries);
  }

  private requireClientId(): string {
    const { clientId } = this.options;
    if (clientId === undefined) throw new TypeError('clientId is needed to sign users in');
    return clientId;
  }
}
