import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';
import { linkIn, MailServer, tokenIn } from './support/mail-server.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD } from './support/third-party.js';

const NEW_PASSWORD = 'another fine password';
let mails: MailServer;
let site: SiteApp;
let sql: DataSource;

beforeAll(async () => {
  mails = await MailServer.start();
  site = await startSite({
    SMTP_URL: mails.url,
    MAIL_SENDER: 'site@share.example.org',
    GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
    SITE_REGISTRATIONS_PER_HOUR: '1000',
  });
  sql = site.app.get(DataSource);
});
afterAll(async () => {
  await site.close();
  await mails.close();
});

const post = (path: string, body: object, cookie = ''): request.Test =>
  request(site.url).post(`/api/site/${path}`).set('Cookie', cookie).send(body);

async function register(name: string, language = 'en'): Promise<{ cookie: string; email: string; id: number }> {
  const email = `${name}@example.org`;
  const answer = await post('register', { username: name, password: PASSWORD, email }).set('Accept-Language', language);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({ data: { email, email_verified: false } });
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  return { cookie, email, id: (answer.body as { data: { id: number } }).data.id };
}

/** The same with a verified address. */
async function member(name: string): Promise<Awaited<ReturnType<typeof register>>> {
  const account = await register(name);
  await post('email-verification', { token: tokenIn(await mails.to(account.email, 'Verify')) }).expect(200);
  return account;
}

const me = async (cookie: string): Promise<Record<string, unknown>> =>
  ((await request(site.url).get('/api/site/me').set('Cookie', cookie)).body as { data: Record<string, unknown> }).data;

const signIn = (username: string, password: string): request.Test => post('login', { username, password });

describe('a new email address', () => {
  it('is verified by a link that works once', async () => {
    const { cookie, email } = await register('vera');
    const mail = await mails.to(email, 'Verify');
    expect(mail).toMatchObject({
      from: 'site@share.example.org',
      subject: 'Verify your email address for 127.0.0.1:8081',
    });
    expect(mail.text).toContain('Hello vera,');
    const token = tokenIn(mail);
    await post('email-verification', { token: `${token.slice(0, -2)}AA` }).expect(400);
    await post('password-reset/complete', { token, new_password: NEW_PASSWORD }).expect(400);
    expect(await me(cookie)).toMatchObject({ email_verified: false });
    await post('email-verification', { token }).expect(200);
    expect(await me(cookie)).toMatchObject({ email_verified: true });
    const again = await post('email-verification', { token }).expect(400);
    expect(again.body).toMatchObject({ message: 'token: is not valid, has expired or was used before' });
    await post('me/email-verification', {}, cookie).expect(409);
  });

  it('is verified on a page without JavaScript, which opening alone does not do', async () => {
    const { cookie, email } = await register('paula', 'zh-CN');
    const mail = await mails.to(email, '验证您在');
    const reader = new PageReader(site.url);
    await reader.get(linkIn(mail));
    expect(reader.last?.headers['referrer-policy']).toBe('no-referrer');
    expect(await me(cookie)).toMatchObject({ email_verified: false });
    await reader.submit('/verify-email');
    expect(reader.location).toBe('/login?done=email-verified');
    await reader.follow();
    expect(reader.text).toContain('The email address is verified.');
    expect(await me(cookie)).toMatchObject({ email_verified: true });
  });

  it('replaces the former one, whose owner hears of it', async () => {
    const { cookie, email } = await member('moritz');
    const old = 'password-reset';
    await post(old, { account: 'moritz' }).expect(200);
    const reset = await mails.to(email, 'new password');
    const change = request(site.url).patch('/api/site/me').set('Cookie', cookie).send({ email: 'new@example.org' });
    expect((await change).body).toMatchObject({ data: { email: 'new@example.org', email_verified: false } });
    expect((await mails.to(email, 'was changed')).text).toContain('another email address now');
    await mails.to('new@example.org', 'Verify');
    await post('password-reset/complete', { token: tokenIn(reset), new_password: NEW_PASSWORD }).expect(400);
  });

  it('gets at most five more links an hour, and only the last one works', async () => {
    const { cookie, email } = await register('lena');
    const first = tokenIn(await mails.to(email, 'Verify'));
    for (let sent = 0; sent < 5; sent++) await post('me/email-verification', {}, cookie).expect(200);
    const refused = await post('me/email-verification', {}, cookie).expect(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await post('email-verification', { token: first }).expect(400);
    await post('me/email-verification', {}).expect(401);
  });
});

describe('a lost password', () => {
  it('is replaced by a link, which ends everything that the old one opened', async () => {
    const { cookie, email, id } = await member('rita');
    const key = await post('keys', { name: 'k', scopes: ['meta'], current_password: PASSWORD }, cookie).expect(200);
    const { secret } = (key.body as { data: { secret: string } }).data;
    await post('password-reset', { account: 'RITA@example.org' }).expect(200);
    const token = tokenIn(await mails.to(email, 'set a new password'));
    const bad = await post('password-reset/complete', { token, new_password: 'rita is my name' }).expect(400);
    expect(bad.body).toMatchObject({ message: 'new_password: must not contain the user name' });
    await post('password-reset/complete', { token, new_password: NEW_PASSWORD }).expect(200);
    await post('password-reset/complete', { token, new_password: NEW_PASSWORD }).expect(400);
    await request(site.url).get('/api/site/me').set('Cookie', cookie).expect(401);
    await request(site.url).get('/api/open/ping').set('X-API-Key', secret).expect(401);
    await signIn('rita', PASSWORD).expect(401);
    await signIn('rita', NEW_PASSWORD).expect(200);
    await mails.to(email, 'Your password was changed.');
    const [event] = (await sql.query(
      "SELECT details FROM audit_events WHERE user_id = $1 AND type = 'user.password_changed'",
      [id],
    )) as unknown[];
    expect(event).toEqual({ details: { by: 'mail' } });
  });

  it('is replaced on pages without JavaScript', async () => {
    const { email } = await member('peter');
    const reader = new PageReader(site.url);
    await reader.get('/login');
    expect(reader.page).toContain('href="/forgot-password"');
    await reader.get('/forgot-password');
    await reader.submit('/forgot-password', { account: 'peter' });
    await reader.follow();
    expect(reader.text).toContain('a mail with a link is on its way');
    const link = linkIn(await mails.to(email, 'set a new password'));
    await reader.get(link);
    await reader.submit('/reset-password', { new_password: 'short' });
    expect(reader.last?.status).toBe(400);
    expect(reader.text).toContain('must be longer than or equal to 10 characters');
    await reader.submit('/reset-password', { new_password: NEW_PASSWORD });
    await reader.follow();
    expect(reader.text).toContain('The new password is set');
    await reader.get(link);
    expect(reader.last?.status).toBe(400);
    expect(reader.text).toContain('This link has expired');
    await reader.logIn('peter', NEW_PASSWORD);
  });

  it('says the same whether there is such an account or not, and sends nothing to addresses that are not verified', async () => {
    const { email } = await register('ute');
    await mails.to(email, 'Verify');
    const answers = [];
    for (const account of ['ute', 'nobody-at-all', 'nobody@example.net']) {
      const { status, body } = await post('password-reset', { account });
      answers.push({ status, body: { ...(body as object), request_id: undefined } });
    }
    expect(answers[0]?.status).toBe(200);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    // Jobs are done in order: when this mail has come, the others had their turn.
    const { email: verified } = await member('uwe');
    await post('password-reset', { account: 'uwe' }).expect(200);
    await mails.to(verified, 'set a new password');
    expect(mails.mails.filter(({ to, subject }) => to === email && subject.includes('new password'))).toEqual([]);
  });

  it('gets three links an hour, without a word about the fourth', async () => {
    const { email } = await member('ina');
    const sent = (): number =>
      mails.mails.filter(({ to, text }) => to === email && text.includes('/reset-password')).length;
    for (let asked = 0; asked < 5; asked++) await post('password-reset', { account: 'ina' }).expect(200);
    await expect.poll(sent).toBeGreaterThan(0);
    const [{ n }] = (await sql.query(
      "SELECT count(*)::int AS n FROM mails WHERE recipient = $1 AND kind = 'reset_password'",
      [email],
    )) as [{ n: number }];
    expect(n).toBeLessThanOrEqual(3);
  });

  it('needs a link that has not expired', async () => {
    const { email, id } = await member('egon');
    await post('password-reset', { account: 'egon' }).expect(200);
    const token = tokenIn(await mails.to(email, 'set a new password'));
    // A later end than the link was signed with is not believed, either.
    await sql.query("UPDATE account_links SET expires_at = now() + interval '9 days' WHERE user_id = $1", [id]);
    await post('password-reset/complete', { token, new_password: NEW_PASSWORD }).expect(400);
    await sql.query('UPDATE account_links SET expires_at = now() WHERE user_id = $1', [id]);
    await post('password-reset/complete', { token, new_password: NEW_PASSWORD }).expect(400);
  });
});

describe('a security notice', () => {
  it('is mailed to a verified address, in the language of the account', async () => {
    const { cookie, email, id } = await member('nora');
    await sql.query("UPDATE site_accounts SET language = 'zh-CN' WHERE id = $1", [id]);
    await post('keys', { name: 'TV', scopes: ['meta'], current_password: PASSWORD }, cookie).expect(200);
    const mail = await mails.to(email, 'TV');
    expect(mail.subject).toContain('安全通知');
    expect(mail.text).toContain('nora，您好');
    expect(mail.text).toContain('/keys');
    expect(mails.mails.filter(({ messageId }) => messageId === mail.messageId)).toHaveLength(1);
  });
});

describe('the mail server', () => {
  it('is asked again after a temporary refusal', async () => {
    let refusals = 0;
    mails.check = (address) =>
      address === 'tina@example.org' && refusals++ === 0 ? { responseCode: 451, message: 'later' } : undefined;
    const { email } = await register('tina');
    await mails.to(email, 'Verify');
    expect(refusals).toBe(2);
  });

  it('is not asked again after a final one, and the administrator sees why', async () => {
    mails.check = (address) =>
      address === 'frank@example.org' ? { responseCode: 550, message: 'no such user' } : undefined;
    await register('frank');
    const admin = new PageReader(site.url);
    await admin.logIn('admin', PASSWORD);
    const listed = async (): Promise<object | undefined> => {
      const answer = await request(site.url).get('/api/site/admin/mails').set('Cookie', admin.cookie).expect(200);
      return (answer.body as { data: { username: string }[] }).data.find(({ username }) => username === 'frank');
    };
    await expect.poll(listed).toMatchObject({ state: 'failed', problem: 'EENVELOPE 550', attempts: 1 });
    const { id } = (await listed()) as { id: number };
    await request(site.url).get(`/api/site/admin/mails/${id}`).set('Cookie', admin.cookie).expect(409);
    await admin.get('/admin/mails');
    expect(admin.text).toContain('EENVELOPE 550');
    expect(admin.page).not.toContain(`/admin/mails/${id}`);
  });
});
