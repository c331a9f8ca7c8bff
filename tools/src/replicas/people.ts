import { randomBytes } from 'node:crypto';
import { ReplicaClient, type AnswerLog, type ReplicaRequest } from './replica-client.js';
import { ADMINISTRATOR_PASSWORD, type Entrances } from './replica-set.js';

const OAUTH = '/api/public/openapi/oauth';
const REDIRECT_URI = 'http://127.0.0.1:8090/callback';
const SCOPES = ['meta', 'query', 'unlock', 'write'];
const USER_PASSWORD = randomBytes(12).toString('base64url');

interface Enveloped<T> {
  data: T;
}

/** The first administrator of proxy-gateway or tunnel-gateway. */
export async function administratorOf(
  set: Entrances,
  answerLog: AnswerLog,
  service: 'proxy-gateway' | 'tunnel-gateway',
): Promise<ReplicaClient> {
  const client = new ReplicaClient(set.of(service), answerLog);
  const name = service === 'tunnel-gateway' ? { username: 'admin' } : {};
  const body = { password: ADMINISTRATOR_PASSWORD, ...name };
  const { token } = await client.call<{ token: string }>({ method: 'POST', path: '/api/v1/auth/login', body });
  return client.as({ authorization: `Bearer ${token}` });
}

export async function siteAdministrator(set: Entrances, answerLog: AnswerLog): Promise<ReplicaClient> {
  return await siteLogin(new ReplicaClient(set.of('resource-sharing'), answerLog), 'admin', ADMINISTRATOR_PASSWORD);
}

async function siteLogin(client: ReplicaClient, username: string, password: string): Promise<ReplicaClient> {
  const body = { username, password };
  const { 'set-cookie': cookie } = await client.call<{ 'set-cookie': string }>({
    method: 'POST',
    path: '/api/site/login',
    body,
  });
  return client.as({ cookie });
}

/** A user with points and a personal key. */
export interface Member {
  id: number;
  /** With the cookie of a login. */
  site: ReplicaClient;
  /** With the personal key. */
  open: ReplicaClient;
}

/** Registers a user. One with Premium may check in, and has some unlocks a week for nothing. */
export async function newMember(administrator: ReplicaClient, points: number, isPremium = false): Promise<Member> {
  const anonymous = administrator.as({ cookie: '' });
  const username = `member-${randomBytes(6).toString('hex')}`;
  const registration = { username, password: USER_PASSWORD };
  const path = '/api/site/register';
  const made = await anonymous.call<Enveloped<{ id: number }>>({ method: 'POST', path, body: registration });
  const { id } = made.data;
  const account = `/api/site/admin/users/${id}`;
  if (isPremium) await administrator.call({ method: 'PATCH', path: account, body: { premium_until: 'forever' } });
  const grant = { points, ref: randomBytes(12).toString('hex'), note: 'to begin with' };
  await administrator.call({ method: 'POST', path: `${account}/points`, body: grant });
  const site = await siteLogin(anonymous, username, USER_PASSWORD);
  const wish = { name: 'replicas', scopes: isPremium ? [...SCOPES, 'vip'] : SCOPES, current_password: USER_PASSWORD };
  const key = await site.call<Enveloped<{ secret: string }>>({ method: 'POST', path: '/api/site/keys', body: wish });
  return { id, site, open: anonymous.as({ 'x-api-key': key.data.secret }) };
}

/** Shares a link of their own; what buyers need of it. */
export async function newShare(member: Member, points: number): Promise<{ slug: string }> {
  const body = shareBody(randomBytes(16).toString('hex'), points);
  const made = await member.open.call<Enveloped<{ slug: string }>>({ method: 'POST', path: '/api/open/shares', body });
  return made.data;
}

export function shareBody(id: string, points: number): object {
  const url = `https://115.com/s/${id}?password=a1b2`;
  return { media_type: 'movie', tmdb_id: '550', url, title: 'Shared by a sweep', unlock_points: points };
}

export interface Application {
  clientId: string;
  /** With its secret. */
  server: ReplicaClient;
}

/** An application that every member may use. */
export async function newApplication(administrator: ReplicaClient): Promise<Application> {
  const made = await administrator.call<Enveloped<{ client_id: string; secret: { secret: string } }>>({
    method: 'POST',
    path: '/api/site/applications',
    body: { name: 'Sweep', redirect_uris: [REDIRECT_URI], scopes: SCOPES },
  });
  const { client_id: clientId, secret } = made.data;
  await administrator.call({
    method: 'PATCH',
    path: `/api/site/admin/applications/${clientId}`,
    body: { auth_level: 'verified', status: 'approved' },
  });
  return { clientId, server: administrator.as({ cookie: '', 'x-api-key': secret.secret }) };
}

/** The request that makes tokens of a new authorization, once. */
export async function codeRequest({ clientId }: Application, { site }: Member): Promise<TokenRequest> {
  const wish = { client_id: clientId, redirect_uri: REDIRECT_URI, scope: SCOPES.join(' '), state: 'sweep' };
  const { data } = await site.call<Enveloped<{ code: string }>>({
    method: 'POST',
    path: `${OAUTH}/authorize`,
    body: wish,
  });
  return tokenRequest({ grant_type: 'authorization_code', code: data.code, redirect_uri: REDIRECT_URI });
}

/** The first refresh token of an authorization. */
export async function authorize(application: Application, member: Member): Promise<string> {
  const request = await codeRequest(application, member);
  const { data } = await application.server.call<Enveloped<{ refresh_token: string }>>(request);
  return data.refresh_token;
}

type TokenRequest = Pick<ReplicaRequest, 'method' | 'path' | 'body'>;

export const refreshRequest = (token: string): TokenRequest =>
  tokenRequest({ grant_type: 'refresh_token', refresh_token: token });

const tokenRequest = (body: object): TokenRequest => ({ method: 'POST', path: `${OAUTH}/token`, body });
