import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';
import { Authenticator } from './support/authenticator.js';
import { MailServer, tokenIn } from './support/mail-server.js';
import { PageReader } from './support/page-reader.js';
import { CALLBACK, PASSWORD, ThirdParty, VERIFIER } from './support/third-party.js';
import { challengeOf } from '../src/oauth/pkce.js';

const NEW_PASSWORD = 'a second fine password';
let mails: MailServer;
let site: SiteApp;

/** What nobody may find, by its name. */
const secrets = new Map<string, string>();
function secret<T extends string>(name: string, value: T | undefined): T {
  if (value === undefined || value === '') throw new Error(`there is no ${name}`);
  secrets.set(name, value);
  return value;
}

beforeAll(async () => {
  mails = await MailServer.start();
  site = await startSite({ SMTP_URL: mails.url, LOG_LEVEL: 'debug', SITE_REGISTRATIONS_PER_HOUR: '1000' });
});
afterAll(async () => {
  await site.close();
  await mails.close();
});

const cookieIn = (answer: request.Response): string => answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
const post = (path: string, body: object, cookie = ''): request.Test =>
  request(site.url).post(path).set('Cookie', cookie).send(body);
const dataOf = <T>(answer: request.Response): T => (answer.body as { data: T }).data;

/** Registers with a mail address, verifies it, and sets a second factor up. */
async function member(): Promise<{ cookie: string; app: Authenticator }> {
  const given = { username: 'lotte', email: 'lotte@example.org', password: secret('password', PASSWORD) };
  const cookie = cookieIn(await post('/api/site/register', given).expect(200));
  secret('session', cookie.split('=')[1]);
  const link = secret('link of the address', tokenIn(await mails.to(given.email, 'Verify')));
  await post('/api/site/email-verification', { token: link }).expect(200);
  const begun = await post('/api/site/me/second-factor', { current_password: PASSWORD }, cookie).expect(200);
  const { secret: key } = dataOf<{ secret: string }>(begun);
  const app = Authenticator.from(secret('key of the authenticator', key));
  const confirm = { code: secret('code of the app', await app.code()) };
  const confirmed = await post('/api/site/me/second-factor/confirm', confirm, cookie).expect(200);
  for (const [index, code] of dataOf<{ recovery_codes: string[] }>(confirmed).recovery_codes.entries()) {
    secret(`recovery code ${index}`, code);
  }
  return { cookie, app };
}

/** Sign-in with both steps on pages, also with what is wrong. */
async function signIn(app: Authenticator): Promise<PageReader> {
  await post('/api/site/login', { username: 'lotte', password: secret('wrong password', 'hunter2-hunter2') }).expect(
    401,
  );
  // People type a password as their name.
  await post('/api/site/login', { username: PASSWORD, password: PASSWORD }).expect(401);
  await post('/api/site/login', `{"username":"lotte","password":"${PASSWORD}"` as never)
    .set('Content-Type', 'application/json')
    .expect(400);
  const browser = new PageReader(site.url);
  await browser.get('/login');
  await browser.submit('/login', { username: 'lotte', password: PASSWORD });
  secret('ticket', /name="ticket" value="([^"]+)"/.exec(browser.page)?.[1]);
  await browser.submit('/login/code', { code: secret('next code', await app.code(1)) });
  secret('session of the browser', /gatehouse_site=([\w-]+)/.exec(browser.cookie)?.[1]);
  return browser;
}

/** Consent, code, tokens, refresh, a call, and each of them in a wrong place. */
async function authorize(browser: PageReader): Promise<void> {
  const people = new ThirdParty(site);
  const client = await people.register((await people.user('maker')).id, { name: 'Player' });
  secret('secret of the application', client.secret);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: CALLBACK,
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
  });
  const page = `/oauth2/authorize?${query.toString()}`;
  await browser.get(page);
  await browser.submit(page, { decision: 'allow', scope: 'meta' });
  const code = secret('authorization code', new URL(browser.location).searchParams.get('code') ?? '');
  const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
  const token = (body: object): request.Test =>
    request(site.url).post('/oauth2/token').auth(client.clientId, client.secret).type('form').send(body);
  await token({ ...grant, code_verifier: 'x'.repeat(43) }).expect(400);
  const first = await token({ ...grant, code_verifier: secret('verifier', VERIFIER) });
  expect(first.status, first.text).toBe(200);
  const { access_token: access, refresh_token: refresh } = first.body as Record<string, string>;
  secret('access token', access);
  const refreshed = await token({
    grant_type: 'refresh_token',
    refresh_token: secret('refresh token', refresh),
  }).expect(200);
  const next = refreshed.body as Record<string, string>;
  secret('second refresh token', next['refresh_token']);
  const call = (path: string): request.Test => request(site.url).get(path).set('X-API-Key', client.secret);
  await call('/api/open/ping')
    .set('Authorization', `Bearer ${secret('second access token', next['access_token'])}`)
    .expect(200);
  await call(`/api/open/me?access_token=${next['access_token']}`);
  await call('/api/open/nothing').set('Authorization', `Bearer ${next['access_token']}`).expect(404);
  await request(site.url).get(`/api/open/ping?api_key=${client.secret}`).expect(401);
}

/** A personal key, then a lost password. */
async function keyAndReset(cookie: string): Promise<void> {
  const [recovery = ''] = [...secrets].flatMap(([name, value]) => (name === 'recovery code 0' ? [value] : []));
  const proof = { current_password: PASSWORD, code: recovery };
  const made = await post('/api/site/keys', { name: 'Mine', scopes: ['meta'], ...proof }, cookie).expect(200);
  const key = secret('personal key', dataOf<{ secret: string }>(made).secret);
  await request(site.url).get('/api/open/ping').set('X-API-Key', key).expect(200);
  await request(site.url).get('/api/open/ping').set('X-API-Key', `${key}x`).expect(401);
  await post('/api/site/password-reset', { account: 'lotte' }).expect(200);
  const token = secret('link of the password', tokenIn(await mails.to('lotte@example.org', 'set a new password')));
  await request(site.url).get(`/reset-password?token=${token}`).expect(200);
  await request(site.url).get(`/no-such-page?token=${token}`);
  const reset = { token, new_password: secret('new password', NEW_PASSWORD) };
  await post('/api/site/password-reset/complete', reset).expect(200);
  await request(site.url).get('/api/open/ping').set('X-API-Key', key).expect(401);
  await mails.to('lotte@example.org', 'Your password was changed');
}

it('no log line, and nothing that is kept about calls and mails, holds a password, token, key or code', async () => {
  const { cookie, app } = await member();
  await authorize(await signIn(app));
  await keyAndReset(cookie);
  const sql = site.app.get(DataSource);
  const places = new Map([['the log', JSON.stringify(site.logs)]]);
  for (const table of [
    'audit_logs',
    'audit_events',
    'mails',
    'notices',
    'refused_calls',
    'job_outbox',
    'login_attempts',
  ]) {
    places.set(table, JSON.stringify(await sql.query(`SELECT to_jsonb(t) AS row FROM ${table} t`)));
  }
  // The log is about these calls at all.
  expect(places.get('the log')).toContain('/oauth2/token');
  expect(places.get('audit_logs')).toContain('/login/code');
  const found = [...places].flatMap(([place, text]) =>
    [...secrets].flatMap(([name, value]) => (text.includes(value) ? [`${name} in ${place}`] : [])),
  );
  expect(found).toEqual([]);
  expect(secrets.size).toBeGreaterThan(25);
});
