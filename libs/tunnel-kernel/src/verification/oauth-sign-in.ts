import { createHash, randomBytes } from 'node:crypto';
import type { GatewayAnswer, VisitorRequest } from '../access/visitor-verifier.js';
import type { OAuthEndpoints, VisitorOAuthClient, VisitorPolicyConfig } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import type { ProblemName } from '../messages/index.js';
import { cookieName, cookieValues, setCookie } from './cookies.js';
import { ANSWER_FIELDS } from './login-page.js';
import { asksMore, identityIn, isWelcome, profileIn, type Identity } from './oauth-identity.js';
import { readJsonObject, type OutboundCalls } from './outbound-call.js';
import type { ProofSigner } from './proof-signer.js';
import { safePath } from './safe-path.js';
import type { Tries } from './try-limit.js';
import type { OAuthIssuer } from './verification-options.js';

/** `retryAfter`: seconds until the next try. */
export type SignedIn = { policy: VisitorPolicyConfig; next: string } | { problem: ProblemName; retryAfter?: number };

interface Registration {
  server: OAuthEndpoints;
  client: VisitorOAuthClient;
  /** Whether the server may have a private address. */
  allowPrivate: boolean;
  /** The client of the tunnel that the visitor wants to use. */
  forClient: number;
}

export interface OAuthSignInOptions {
  /** Servers of the environment; policies may define others. */
  issuers: readonly OAuthIssuer[];
  calls: OutboundCalls;
  signer: ProofSigner;
  logger: TunnelLogger;
  tries: Tries;
  /** Where authorization servers redirect browsers to. */
  redirectUri: (asked: VisitorRequest) => string;
}

const START = /^\/__gw\/oauth\/start\/(\d{1,15})\?/;
const HOST_CALLBACK = '/__gw/oauth/callback';
const STATE_SECONDS = 600;
/** Cookie value during a sign-in: a nonce and the page to return to. */
const PENDING = /^([A-Za-z0-9_-]{24})\.([A-Za-z0-9_-]{0,3000})$/;

/** On the host that the visitor opened. */
export function hostRedirectUri({ scheme, headers, host }: VisitorRequest): string {
  return `${scheme}://${headers.host ?? host}${HOST_CALLBACK}`;
}

/** The policy for which a sign-in begins; null: the request does not begin one. */
export function signInTarget({ method, target }: VisitorRequest): number | null {
  const id = method === 'GET' ? START.exec(target)?.[1] : undefined;
  return id === undefined ? null : Number(id);
}

export function isSignInAnswer({ method, target }: VisitorRequest): boolean {
  return method === 'GET' && target.startsWith(`${HOST_CALLBACK}?`);
}

/** Signs visitors in at an authorization server: authorization code with PKCE (RFC 6749 4.1, RFC 7636, RFC 9207). */
export class OAuthSignIn {
  private readonly options: OAuthSignInOptions;
  private readonly issuers: ReadonlyMap<string, OAuthIssuer>;
  private readonly signer: ProofSigner;

  constructor(options: OAuthSignInOptions) {
    this.options = options;
    this.issuers = new Map(options.issuers.map((issuer) => [issuer.issuer, issuer]));
    this.signer = options.signer;
  }

  /** Redirects the browser to the server; null: the policy's authorization server is unknown. */
  start(asked: VisitorRequest, policy: VisitorPolicyConfig): GatewayAnswer | null {
    const registration = this.registrationOf(policy, asked);
    if (!registration) return null;
    const { server, client } = registration;
    const nonce = randomBytes(18).toString('base64url');
    const next = safePath(queryOf(asked).get('next'));
    const pending = `${nonce}.${Buffer.from(next).toString('base64url')}`;
    const proof = this.signer.sign(policy, stateContext(asked, pending), STATE_SECONDS).text;
    const location = new URL(server.authorizationEndpoint);
    const parameters = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: this.options.redirectUri(asked),
      // The dispatcher finds the host by the first part.
      state: `${asked.resource.id}.${policy.id}.${proof}`,
      code_challenge: createHash('sha256').update(this.codeVerifier(nonce)).digest('base64url'),
      code_challenge_method: 'S256',
      ...(client.scope !== undefined && { scope: client.scope }),
    };
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
    return {
      status: 303,
      headers: [
        ['location', location.href],
        setCookie(asked, cookieOf(policy), pending, STATE_SECONDS),
        ...ANSWER_FIELDS,
      ],
      body: '',
    };
  }

  /** Handles the return of the browser. */
  async finish(asked: VisitorRequest, policies: readonly VisitorPolicyConfig[]): Promise<SignedIn> {
    const query = queryOf(asked);
    const [, id, ...rest] = (query.get('state') ?? '').split('.');
    const policy = policies.find((each) => each.type === 'oauth' && String(each.id) === id);
    const registration = policy && this.registrationOf(policy, asked);
    if (!policy || !registration) return { problem: 'unknownSignIn' };
    const pending = cookieValues(asked, cookieName(asked, cookieOf(policy))).find(
      (value) => this.signer.read(rest.join('.'), policy, stateContext(asked, value)) !== null,
    );
    const [, nonce, next] = PENDING.exec(pending ?? '') ?? [];
    if (nonce === undefined || next === undefined) return { problem: 'signInExpired' };
    if (!isFromIssuer(query.get('iss'), registration, policies)) {
      return { problem: 'wrongIssuer' };
    }
    const code = query.get('code');
    if (code === null || code === '') return { problem: 'notSignedIn' };
    // Codes can be made up, and each one costs a request to the server.
    const { tries } = this.options;
    const { address } = asked.visitor;
    if (!(await tries.take(policy.id, address))) {
      return { problem: 'tooManyTries', retryAfter: await tries.retryAfter(policy.id, address) };
    }
    try {
      const token = await this.exchange(asked, registration, code, nonce);
      const identity = await this.identityOf(registration, token);
      if (!isWelcome(registration.client, identity)) return { problem: 'notAllowed' };
      await tries.giveBack(policy.id, address);
      return { policy, next: safePath(Buffer.from(next, 'base64url').toString('utf8')) };
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.options.logger.warn('a visitor could not be signed in', { policy: policy.id, reason: error.message });
      return { problem: 'signInFailed' };
    }
  }

  /** A cookie that ends a sign-in. */
  forget(asked: VisitorRequest, policy: VisitorPolicyConfig): [string, string] {
    return setCookie(asked, cookieOf(policy), '', 0);
  }

  private async exchange(
    asked: VisitorRequest,
    registration: Registration,
    code: string,
    nonce: string,
  ): Promise<string> {
    const answer = await this.post(registration.server.tokenEndpoint, registration, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.options.redirectUri(asked),
      code_verifier: this.codeVerifier(nonce),
    });
    const token = answer['access_token'];
    if (typeof token !== 'string' || token === '') throw new TunnelError('connection', 'no token was issued');
    return token;
  }

  /** Introspection identifies the token's user; names and addresses are requested if the policy needs them. */
  private async identityOf(registration: Registration, token: string): Promise<Identity> {
    const { introspectionEndpoint, userinfoEndpoint } = registration.server;
    if (introspectionEndpoint === undefined) return this.userinfo(registration, token);
    const known = identityIn(await this.post(introspectionEndpoint, registration, { token }));
    if (!known.active) throw new TunnelError('connection', 'the token is not active');
    if (userinfoEndpoint === undefined || !asksMore(registration.client)) return known;
    const more = await this.userinfo(registration, token);
    if (more.subject !== known.subject) throw new TunnelError('connection', 'the token is of two people');
    return more;
  }

  private async userinfo({ server, client, ...options }: Registration, token: string): Promise<Identity> {
    const headers = {
      Authorization: `Bearer ${token}`,
      Accept: 'application/json',
      ...(server.isProfile && client.clientSecret !== null && { 'X-API-Key': client.clientSecret }),
    };
    const url = server.userinfoEndpoint ?? '';
    const answer = readJsonObject(await this.options.calls.send({ url, method: 'GET', headers, ...options }));
    return server.isProfile ? profileIn(answer) : identityIn(answer);
  }

  /** Authenticates as the client (RFC 6749 2.3.1). */
  private async post(
    url: string,
    { client: { clientId, clientSecret }, allowPrivate, forClient }: Registration,
    fields: Record<string, string>,
  ): Promise<Record<string, unknown>> {
    const headers: Record<string, string> = {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
    };
    const body = new URLSearchParams(fields);
    if (clientSecret === null) body.set('client_id', clientId);
    else headers['Authorization'] = `Basic ${basic(clientId, clientSecret)}`;
    const content = { headers, body: body.toString() };
    const { calls } = this.options;
    return readJsonObject(await calls.send({ url, method: 'POST', ...content, allowPrivate, forClient }));
  }

  /** Endpoints of the environment were chosen by the operator, so they may have any address. */
  private registrationOf(
    { type, oauth, allowPrivate = false }: VisitorPolicyConfig,
    { clientId: forClient }: VisitorRequest,
  ): Registration | null {
    if (type !== 'oauth' || !oauth) return null;
    if (oauth.server) return { server: oauth.server, client: oauth, allowPrivate, forClient };
    const server = this.issuers.get(oauth.issuer);
    return server ? { server, client: oauth, allowPrivate: true, forClient } : null;
  }

  /** Derived, so that it need not be stored and only this gateway knows it. */
  private codeVerifier(nonce: string): string {
    return this.signer.digest('code verifier', nonce);
  }
}

/**
 * RFC 9207. If visitors can choose between servers, one that does not identify itself could be given the code of
 * another.
 */
function isFromIssuer(
  said: string | null,
  { server, client }: Registration,
  policies: readonly VisitorPolicyConfig[],
): boolean {
  if (said !== null) return said === client.issuer;
  const isOnly = policies.every(({ oauth }) => oauth === undefined || oauth.issuer === client.issuer);
  return isOnly && server.namesItself !== true;
}

function stateContext({ scheme, host }: VisitorRequest, pending: string): string {
  return `state\0${scheme}\0${host}\0${pending}`;
}

function cookieOf({ id }: VisitorPolicyConfig): string {
  return `gws_${id}`;
}

function queryOf({ target }: VisitorRequest): URLSearchParams {
  const question = target.indexOf('?');
  return new URLSearchParams(question < 0 ? '' : target.slice(question));
}

function basic(clientId: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
  return Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64');
}
