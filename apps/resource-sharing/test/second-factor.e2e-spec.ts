import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountLinks } from '../src/mails/account-links.js';
import type { SiteApp } from './site-app.js';
import { Authenticator } from './support/authenticator.js';
import { MailServer } from './support/mail-server.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { CALLBACK, PASSWORD, ThirdParty } from './support/third-party.js';

let mails: MailServer;
let site: SiteApp;
let people: ThirdParty;
let addresses = 0;

beforeAll(async () => {
  mails = await MailServer.start();
  site = await startOpenSite({
    SMTP_URL: mails.url,
    GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
    SITE_REGISTRATIONS_PER_HOUR: '1000',
    TRUSTED_PROXIES: '127.0.0.1,::1',
    API_RATE_LIMIT: '0',
  });
  people = new ThirdParty(site);
});
afterAll(async () => {
  await site.close();
  await mails.close();
});

/** From an address that has not failed yet, unless one is given. */
const send = (method: 'get' | 'post' | 'patch', path: string, body?: object, cookie = ''): request.Test =>
  request(site.url)
    [method](`/api/site/${path}`)
    .set('Cookie', cookie)
    .set('X-Forwarded-For', `198.51.100.${++addresses % 250}`)
    .send(body);
const logIn = (username: string, more: object = {}): request.Test =>
  send('post', 'login', { username, password: PASSWORD, ...more });
const codeOf = (answer: request.Response): unknown => (answer.body as { code: unknown }).code;
const dataOf = <T>(answer: request.Response): T => (answer.body as { data: T }).data;

interface Guarded {
  readonly id: number;
  readonly name: string;
  readonly cookie: string;
  readonly app: Authenticator;
  readonly recovery: readonly string[];
}

/** An account with a second factor. Its codes are spent up to now. */
async function guarded(): Promise<Guarded> {
  const user = await people.user(`guarded-${randomBytes(5).toString('hex')}`);
  const cookie = await people.cookie(user.name);
  const begun = await send('post', 'me/second-factor', { current_password: PASSWORD }, cookie).expect(200);
  const app = Authenticator.from(dataOf<{ otpauth_uri: string }>(begun).otpauth_uri);
  const confirmed = await send('post', 'me/second-factor/confirm', { code: await app.code() }, cookie).expect(200);
  return { ...user, cookie, app, recovery: dataOf<{ recovery_codes: string[] }>(confirmed).recovery_codes };
}

/** Lets an authenticator's codes be used again, as when time has passed. */
const later = ({ id }: Pick<Guarded, 'id'>): Promise<unknown> =>
  people.sql.query('UPDATE user_totp SET last_step = 0 WHERE user_id = $1', [id]);
const eventsOf = async (id: number): Promise<string[]> => {
  const rows = await people.sql.query<{ type: string }[]>(
    "SELECT type FROM audit_events WHERE user_id = $1 AND (type LIKE '%factor%' OR type LIKE '%recovery%') ORDER BY id",
    [id],
  );
  return rows.map(({ type }) => type);
};

it.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_234_567_890, '89005924'],
  [20_000_000_000, '65353130'],
])('the authenticator of these tests is one: at %d s it shows %s (RFC 6238 appendix B)', async (seconds, code) => {
  const app = new Authenticator(new TextEncoder().encode('12345678901234567890'), 8);
  expect(await app.codeAt(seconds * 1_000)).toBe(code);
});

describe('on pages without JavaScript', () => {
  /** Turns it on as a person does: reads key and recovery codes from the pages. */
  async function setUp(reader: PageReader): Promise<{ app: Authenticator; recovery: string[] }> {
    await reader.get('/account');
    expect(reader.page).toContain('href="/account/second-factor"');
    await reader.get('/account/second-factor');
    await reader.submit('/account/second-factor', { current_password: PASSWORD });
    await reader.follow();
    expect(reader.page).toContain('<svg class="qr-code" role="img"');
    const app = Authenticator.from(/<code>([A-Z2-7 ]+)<\/code>/.exec(reader.page)?.[1] ?? '');
    await reader.submit('/account/second-factor/confirm', { code: '000000' });
    expect([reader.last?.status, reader.text]).toEqual([400, expect.stringContaining('is not the current code')]);
    await reader.submit('/account/second-factor/confirm', { code: await app.code() });
    await reader.follow();
    return {
      app,
      recovery: [...reader.page.matchAll(/<li><code>([a-z2-7-]+)<\/code><\/li>/g)].map(([, code = '']) => code),
    };
  }

  it('is turned on, asked for after the password, and accepts each code once', async () => {
    const { id, name } = await people.user();
    const reader = new PageReader(site.url);
    await reader.logIn(name, PASSWORD);
    const { app, recovery } = await setUp(reader);
    expect(new Set(recovery).size).toBe(10);
    await reader.get('/account/second-factor');
    for (const code of recovery) expect(reader.page).not.toContain(code);

    const browser = new PageReader(site.url);
    await browser.get('/login?return_to=/points');
    await browser.submit('/login', { username: name, password: PASSWORD });
    expect([browser.last?.status, browser.text]).toEqual([401, expect.stringContaining('Enter your code')]);
    expect(browser.page).not.toContain(PASSWORD);
    await browser.get('/account');
    expect(browser.location).toContain('/login');
    await browser.get('/login?return_to=/points');
    await browser.submit('/login', { username: name, password: PASSWORD });
    await browser.submit('/login/code', { code: '000000' });
    expect([browser.last?.status, browser.text]).toEqual([401, expect.stringContaining('is not right, or was used')]);
    const code = await app.code(1);
    await browser.submit('/login/code', { code });
    expect([browser.last?.status, browser.location]).toEqual([303, '/points']);
    expect((await browser.follow()).status).toBe(200);

    const thief = new PageReader(site.url);
    await thief.get('/login');
    await thief.submit('/login', { username: name, password: PASSWORD });
    await thief.submit('/login/code', { code });
    expect(thief.last?.status).toBe(401);
    const [row] = await people.sql.query<{ actor: object }[]>(
      `SELECT actor_id::int, actor_name, success FROM audit_logs WHERE path = '/login/code' AND success ORDER BY id DESC LIMIT 1`,
    );
    expect(row).toEqual({ actor_id: id, actor_name: name, success: true });
  });

  it('is asked for on the way to an application’s consent page', async () => {
    const { name, app } = await guarded();
    const { clientId } = await people.register((await people.user()).id);
    const query = new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: CALLBACK });
    const browser = new PageReader(site.url);
    await browser.get(`/oauth2/authorize?${query.toString()}`);
    await browser.follow();
    await browser.submit('/login', { username: name, password: PASSWORD });
    expect(browser.last?.headers['content-security-policy']).toContain("form-action 'self' https:;");
    await browser.submit('/login/code', { code: await app.code(1) });
    await browser.follow();
    await browser.submit(`/oauth2/authorize?${query.toString()}`, { decision: 'allow', scope: 'meta' });
    expect(browser.location).toMatch(/^https:\/\/client\.example\/callback\?code=/);
  });

  it('is in Chinese for those who read Chinese', async () => {
    const { name } = await guarded();
    const answer = await request(site.url).get('/login').set('Accept-Language', 'zh-CN');
    const cookie = (answer.headers['set-cookie'] as unknown as string[])[0]?.split(';')[0] ?? '';
    const token = /name="_token" value="([^"]+)"/.exec(answer.text)?.[1] ?? '';
    const page = await request(site.url)
      .post('/login')
      .set('Accept-Language', 'zh-CN')
      .set('Cookie', cookie)
      .type('form')
      .send({ _token: token, username: name, password: PASSWORD });
    expect(page.text).toContain('输入验证码');
  });

  it('forgets a login whose password was changed in the meantime, or that took too long', async () => {
    const { id, name, app } = await guarded();
    const browser = new PageReader(site.url);
    await browser.get('/login');
    await browser.submit('/login', { username: name, password: PASSWORD });
    await people.sql.query("UPDATE site_accounts SET password_hash = 'changed' WHERE id = $1", [id]);
    await browser.submit('/login/code', { code: await app.code(1) });
    expect(browser.last?.status).toBe(401);
    await browser.submit('/login/code', { code: await app.code(1), ticket: 'v2.no.ticket' });
    expect([browser.last?.status, browser.text]).toEqual([401, expect.stringContaining('took too long')]);
  });

  it('is needed wherever the password is asked for again', async () => {
    const account = await guarded();
    const { name, app, recovery } = account;
    const browser = new PageReader(site.url);
    await browser.get('/login');
    await browser.submit('/login', { username: name, password: PASSWORD });
    await browser.submit('/login/code', { code: recovery[0] ?? '' });
    await browser.get('/keys');
    const key = { name: 'Mine', scopes: 'meta', current_password: PASSWORD };
    await browser.submit('/keys', key);
    expect([browser.last?.status, browser.text]).toEqual([401, expect.stringContaining('a code from the')]);
    await browser.submit('/keys', { ...key, code: await app.code(1) });
    expect(browser.last?.status).toBe(303);
    await browser.get('/account');
    await browser.submit('/account/delete', { password: PASSWORD });
    expect([browser.last?.status, browser.text]).toEqual([401, expect.stringContaining('a code from the')]);
  });
});

describe('in the API', () => {
  it('changes nothing for accounts without one', async () => {
    const { name } = await people.user();
    const answer = await logIn(name).expect(200);
    const data = dataOf<object>(answer);
    const members = 'avatar_url created_at email email_verified id nickname permissions premium_until role username';
    expect(Object.keys(data).toSorted().join(' ')).toBe(members);
    const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const state = await send('get', 'me/second-factor', undefined, cookie).expect(200);
    expect(dataOf(state)).toEqual({ state: 'off', since: null, recovery_codes_left: 0 });
  });

  it('is required at the login, and a wrong code says what a wrong password says', async () => {
    const { name, app } = await guarded();
    expect(codeOf(await logIn(name).expect(401))).toBe('TOTP_REQUIRED');
    expect(codeOf(await logIn(name, { code: '000000' }).expect(401))).toBe('LOGIN_FAILED');
    expect(codeOf(await logIn(name, { password: 'a guess', code: await app.code(1) }).expect(401))).toBe(
      'LOGIN_FAILED',
    );
    const code = await app.code(1);
    await logIn(name, { code }).expect(200);
    expect(codeOf(await logIn(name, { code }).expect(401))).toBe('LOGIN_FAILED');
  });

  it('has recovery codes that work once; new ones and the end need password and code', async () => {
    const account = await guarded();
    const { id, name, cookie, app, recovery } = account;
    await logIn(name, { code: recovery[0]?.toUpperCase() }).expect(200);
    await logIn(name, { code: recovery[0] }).expect(401);
    const proof = { current_password: PASSWORD };
    const path = 'me/second-factor';
    expect(codeOf(await send('post', `${path}/recovery-codes`, proof, cookie))).toBe('TOTP_REQUIRED');
    expect(codeOf(await send('post', `${path}/disable`, proof, cookie))).toBe('TOTP_REQUIRED');
    const wrong = { current_password: 'a guess', code: await app.code(1) };
    expect(codeOf(await send('post', `${path}/disable`, wrong, cookie))).toBe('LOGIN_FAILED');
    const renewed = await send('post', `${path}/recovery-codes`, { ...proof, code: recovery[1] }, cookie).expect(200);
    expect(dataOf<{ recovery_codes: string[] }>(renewed).recovery_codes).toHaveLength(10);
    await logIn(name, { code: recovery[2] }).expect(401);
    expect(codeOf(await send('post', path, { ...proof, code: await app.code(1) }, cookie))).toBe('409');
    await later(account);
    await send('post', `${path}/disable`, { ...proof, code: await app.code(1) }, cookie).expect(200);
    await logIn(name).expect(200);
    expect(await people.sql.query('SELECT FROM recovery_codes WHERE user_id = $1', [id])).toEqual([]);
    expect(await eventsOf(id)).toEqual([
      'user.second_factor_enabled',
      'user.recovery_code_used',
      'user.recovery_code_used',
      'user.recovery_codes_replaced',
      'user.second_factor_disabled',
    ]);
  });

  it('locks after ten wrong codes, which need the password first', async () => {
    const { id, name, app } = await guarded();
    for (let count = 0; count < 12; count++) await logIn(name, { password: 'a guess', code: '000000' }).expect(401);
    for (let count = 0; count < 10; count++) await logIn(name, { code: '000000' }).expect(401);
    const locked = await logIn(name, { code: await app.code(1) });
    expect([locked.status, codeOf(locked)]).toEqual([423, 'LOCKED']);
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(3_000);
    await logIn(name, { password: 'a guess' }).expect(401);
    await people.sql.query("UPDATE user_totp SET failures_since = now() - interval '61 minutes' WHERE user_id = $1", [
      id,
    ]);
    await logIn(name, { code: await app.code(1) }).expect(200);
  });

  it('keeps its secret sealed', async () => {
    const { id, app } = await guarded();
    const rows = JSON.stringify(await people.sql.query('SELECT * FROM user_totp WHERE user_id = $1', [id]));
    expect(rows).toContain('v2.');
    expect(rows).not.toContain(await app.code());
  });
});

describe('what it protects against', () => {
  it('a lost password does not remove it', async () => {
    const { id, name, app } = await guarded();
    const email = `${name}@example.org`;
    await people.sql.query('UPDATE site_accounts SET email = $2, email_verified_at = now() WHERE id = $1', [id, email]);
    const links = site.app.get(AccountLinks);
    const link = await people.sql.transaction((tx) =>
      links.create(tx, { userId: id, purpose: 'reset_password', email }),
    );
    const reset = { token: links.tokenOf(link), new_password: 'another battery horse' };
    await send('post', 'password-reset/complete', reset).expect(200);
    const given = { password: 'another battery horse' };
    expect(codeOf(await logIn(name, given).expect(401))).toBe('TOTP_REQUIRED');
    await logIn(name, { ...given, code: await app.code(1) }).expect(200);
  });

  it('administrators turn off the one of a user who lost it; the user hears of that, and the logs have it', async () => {
    const { id, name, cookie } = await guarded();
    await people.sql.query('UPDATE site_accounts SET email = $2, email_verified_at = now() WHERE id = $1', [
      id,
      `${name}@example.org`,
    ]);
    await send('patch', `admin/users/${id}`, { reset_second_factor: true }, cookie).expect(403);
    const admin = new PageReader(site.url);
    await admin.logIn('admin', PASSWORD);
    await admin.get(`/admin/users/${id}`);
    await admin.submit(`/admin/users/${id}/second-factor`);
    expect(admin.last?.status).toBe(303);
    await logIn(name).expect(200);
    const [event] = await people.sql.query<{ type: string; actor_id: number; id: number }[]>(
      "SELECT actor_id FROM audit_events WHERE user_id = $1 AND type = 'user.second_factor_reset'",
      [id],
    );
    expect(event).toEqual({ actor_id: 1 });
    const logged = await people.sql.query<object[]>(
      "SELECT action, success FROM audit_logs WHERE resource_type = 'user' AND resource_id = $1 AND success",
      [String(id)],
    );
    expect(logged).toContainEqual({ action: 'user.second_factor', success: true });
    const notices = await send('get', 'notices', undefined, cookie).expect(200);
    expect(notices.text).toContain('An administrator turned off your two-factor authentication.');
    await mails.to(`${name}@example.org`, 'An administrator turned off your two-factor authentication.');
    const own = await send('patch', 'admin/users/1', { reset_second_factor: true }, admin.cookie);
    expect(codeOf(own)).toBe('409');
  });
});
