import { createHash, randomBytes } from 'node:crypto';
import type { GatewayAnswer, VisitorRequest } from '../access/visitor-verifier.js';
import type { VisitorOAuthClient, VisitorPolicyConfig } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import { cookieName, cookieValues, setCookie } from './cookies.js';
import { ANSWER_FIELDS } from './login-page.js';
import type { OutboundAnswer, OutboundCalls } from './outbound-call.js';
import type { ProofSigner } from './proof-signer.js';
import { safePath } from './safe-path.js';
import type { OAuthIssuer } from './verification-options.js';

export type SignedIn = { policy: VisitorPolicyConfig; next: string } | { problem: string };

interface Registration {
  issuer: OAuthIssuer;
  client: VisitorOAuthClient;
}

const START = /^\/__gw\/oauth\/start\/(\d{1,15})\?/;
const CALLBACK = '/__gw/oauth/callback';
const STATE_SECONDS = 600;
/** What a browser keeps while it is away: a nonce and where it wanted to go. */
const PENDING = /^([A-Za-z0-9_-]{24})\.([A-Za-z0-9_-]{0,3000})$/;

/** The policy that a sign-in begins for; null: the request is no such thing. */
export function signInTarget({ method, target }: VisitorRequest): number | null {
  const id = method === 'GET' ? START.exec(target)?.[1] : undefined;
  return id === undefined ? null : Number(id);
}

export function isSignInAnswer({ method, target }: VisitorRequest): boolean {
  return method === 'GET' && target.startsWith(`${CALLBACK}?`);
}

/** Visitors sign in at an authorization server: authorization code with PKCE (RFC 6749 4.1, RFC 7636, RFC 9207). */
export class OAuthSignIn {
  private readonly issuers: ReadonlyMap<string, OAuthIssuer>;
  private readonly calls: OutboundCalls;
  private readonly signer: ProofSigner;
  private readonly logger: TunnelLogger;

  constructor(options: {
    issuers: readonly OAuthIssuer[];
    calls: OutboundCalls;
    signer: ProofSigner;
    logger: TunnelLogger;
  }) {
    this.issuers = new Map(options.issuers.map((issuer) => [issuer.issuer, issuer]));
    this.calls = options.calls;
    this.signer = options.signer;
    this.logger = options.logger;
  }

  /** Sends the browser there; null: the policy's authorization server is not known. */
  start(asked: VisitorRequest, policy: VisitorPolicyConfig): GatewayAnswer | null {
    const registration = this.registrationOf(policy);
    if (!registration) return null;
    const { issuer, client } = registration;
    const nonce = randomBytes(18).toString('base64url');
    const next = safePath(queryOf(asked).get('next'));
    const pending = `${nonce}.${Buffer.from(next).toString('base64url')}`;
    const proof = this.signer.sign(policy, stateContext(asked, pending), STATE_SECONDS).text;
    const location = new URL(issuer.authorizationEndpoint);
    const parameters = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri(asked),
      // The front door finds the host by what comes first.
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

  /** The browser is back. */
  async finish(asked: VisitorRequest, policies: readonly VisitorPolicyConfig[]): Promise<SignedIn> {
    const query = queryOf(asked);
    const [, id, ...rest] = (query.get('state') ?? '').split('.');
    const policy = policies.find((each) => each.type === 'oauth' && String(each.id) === id);
    const registration = policy && this.registrationOf(policy);
    if (!policy || !registration) return { problem: 'This sign-in is not known here.' };
    const pending = cookieValues(asked, cookieName(asked, cookieOf(policy))).find(
      (value) => this.signer.read(rest.join('.'), policy, stateContext(asked, value)) !== null,
    );
    const [, nonce, next] = PENDING.exec(pending ?? '') ?? [];
    if (nonce === undefined || next === undefined) return { problem: 'The sign-in took too long. Try again.' };
    const said = query.get('iss');
    if (said !== null && said !== registration.issuer.issuer) return { problem: 'The answer is from somebody else.' };
    const code = query.get('code');
    if (code === null || code === '') return { problem: 'You were not signed in.' };
    try {
      const token = await this.exchange(asked, registration, code, nonce);
      const subject = await this.subjectOf(registration, token);
      if (!isWelcome(registration.client, subject)) return { problem: 'You may not come in here.' };
      return { policy, next: safePath(Buffer.from(next, 'base64url').toString('utf8')) };
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.logger.warn('a visitor could not be signed in', { policy: policy.id, reason: error.message });
      return { problem: 'You could not be signed in at the moment.' };
    }
  }

  /** For the answer that ends a sign-in. */
  forget(asked: VisitorRequest, policy: VisitorPolicyConfig): [string, string] {
    return setCookie(asked, cookieOf(policy), '', 0);
  }

  private async exchange(
    asked: VisitorRequest,
    { issuer, client }: Registration,
    code: string,
    nonce: string,
  ): Promise<string> {
    const answer = await this.post(issuer.tokenEndpoint, client, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(asked),
      code_verifier: this.codeVerifier(nonce),
    });
    const token = answer['access_token'];
    if (typeof token !== 'string' || token === '') throw new TunnelError('connection', 'no token was issued');
    return token;
  }

  private async subjectOf({ issuer, client }: Registration, token: string): Promise<string> {
    const { introspectionEndpoint, userinfoEndpoint } = issuer;
    const who =
      introspectionEndpoint === undefined
        ? await this.userinfo(userinfoEndpoint ?? '', token)
        : await this.post(introspectionEndpoint, client, { token });
    if (introspectionEndpoint !== undefined && who['active'] !== true) {
      throw new TunnelError('connection', 'the token is not active');
    }
    const subject = who['sub'];
    if (typeof subject !== 'string' || subject === '') throw new TunnelError('connection', 'nobody has the token');
    return subject;
  }

  private async userinfo(url: string, token: string): Promise<Record<string, unknown>> {
    const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' };
    return readJson(await this.calls.send({ url, method: 'GET', headers, allowPrivate: true }));
  }

  /** As the client (RFC 6749 2.3.1). The endpoints are the operator's: they may be anywhere. */
  private async post(
    url: string,
    { clientId, clientSecret }: VisitorOAuthClient,
    fields: Record<string, string>,
  ): Promise<Record<string, unknown>> {
    const headers: Record<string, string> = {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
    };
    const body = new URLSearchParams(fields);
    if (clientSecret === null) body.set('client_id', clientId);
    else headers['Authorization'] = `Basic ${basic(clientId, clientSecret)}`;
    return readJson(await this.calls.send({ url, method: 'POST', headers, body: body.toString(), allowPrivate: true }));
  }

  private registrationOf({ type, oauth }: VisitorPolicyConfig): Registration | null {
    const issuer = oauth && this.issuers.get(oauth.issuer);
    return type === 'oauth' && issuer ? { issuer, client: oauth } : null;
  }

  /** Known to this gateway alone, without being kept. */
  private codeVerifier(nonce: string): string {
    return this.signer.digest('code verifier', nonce);
  }
}

function isWelcome({ subjects = [] }: VisitorOAuthClient, subject: string): boolean {
  return subjects.length === 0 || subjects.includes(subject);
}

function stateContext({ scheme, host }: VisitorRequest, pending: string): string {
  return `state\0${scheme}\0${host}\0${pending}`;
}

function cookieOf({ id }: VisitorPolicyConfig): string {
  return `gws_${id}`;
}

function redirectUri({ scheme, headers, host }: VisitorRequest): string {
  return `${scheme}://${headers.host ?? host}${CALLBACK}`;
}

function queryOf({ target }: VisitorRequest): URLSearchParams {
  const question = target.indexOf('?');
  return new URLSearchParams(question < 0 ? '' : target.slice(question));
}

function basic(clientId: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
  return Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64');
}

function readJson({ status, body }: OutboundAnswer): Record<string, unknown> {
  if (status < 200 || status > 299 || body === null) throw new TunnelError('connection', `status ${status}`);
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new TunnelError('connection', 'the answer is no JSON object');
}
