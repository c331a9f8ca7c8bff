import { findPeer, startHttpOrigin, type HttpOrigin } from '@gatehouse/testing';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFindings, COLOURS_ONLY } from '../support/axe.js';
import { TestBrowser } from '../support/browser.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { RunningResourceSharing } from '../support/resource-sharing.js';

const PEERS = ['chromium'];
/** Of the programs, on a busy machine. */
const START_MS = 180_000;
const HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>';
const PASSWORD = 'correct horse battery';
const PAGES = [
  '/',
  '/titles',
  '/unlocked',
  '/points',
  '/notices',
  '/account',
  '/shares',
  '/authorized',
  '/keys',
  '/developer',
  '/account/second-factor',
  '/device',
  '/titles/movie/0',
];
const PAGES_OF_STRANGERS = ['/', '/login', '/register', '/forgot-password', '/no-such-page'];
const ADMIN_SECTIONS = [
  'reviews',
  'applications',
  'users',
  'shares',
  'risk',
  'quotas',
  'operations',
  'events',
  'audit-log',
  'audit-log/verify',
  'mails',
];
const ADMIN_PAGES = ADMIN_SECTIONS.map((name) => `/admin/${name}`);

let service: RunningResourceSharing;
let browser: TestBrowser;
/** Where the application of the tests waits for its codes. */
let client: HttpOrigin;

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  await Promise.all([
    RunningResourceSharing.start().then((started) => (service = started)),
    TestBrowser.start(findPeer('chromium')!).then((started) => (browser = started)),
  ]);
  client = await startHttpOrigin();
}, START_MS);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await service?.[Symbol.asyncDispose]();
  await client?.close();
});

beforeEach((context) => {
  for (const name of PEERS) requirePeer(context, name);
});

afterEach(async () => {
  await browser?.closePages();
  // Redirections lead to the application, which is another host.
  const allowed = [service, client].map((one) => `request: ${one?.url}/`);
  const problems = browser?.problems.splice(0) ?? [];
  expect(problems.filter((problem) => !allowed.some((start) => problem.startsWith(start)))).toEqual([]);
});

async function logIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function register(page: Page, username: string): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
}

async function call(path: string, headers: Record<string, string>, body?: object): Promise<Record<string, unknown>> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(`${service.url}${path}`, {
    headers: { 'content-type': 'application/json', ...headers },
    ...init,
  });
  return (await answer.json()) as Record<string, unknown>;
}

const TOKEN = '/api/public/openapi/oauth/token';

describe.each([true, false])('the site, scripts allowed: %s', { timeout: 90_000 }, (javaScriptEnabled) => {
  const suffix = javaScriptEnabled ? 'js' : 'plain';

  it('carries a third party from its registration to the end of its authorization', async () => {
    const developer = await browser.open(`${service.url}/register?return_to=%2Fdeveloper`, { javaScriptEnabled });
    await register(developer, `dev-${suffix}`);
    await developer.getByLabel('Name', { exact: true }).fill(HOSTILE);
    await developer.getByLabel('Redirect URIs').fill(`${client.url}/callback`);
    await developer.getByRole('checkbox', { name: /Share in your name/ }).uncheck();
    await developer.getByRole('button', { name: 'Register' }).click();
    const secret = (await developer.locator('.secret code').textContent()) ?? '';
    expect(await developer.getByRole('heading', { level: 1 }).textContent()).toBe(HOSTILE);
    const applications = async (): Promise<number> => {
      const list = await developer.context().newPage();
      await list.goto(`${service.url}/developer`);
      const count = await list.locator('tbody tr').count();
      await list.close();
      return count;
    };
    const secrets = developer.getByRole('button', { name: /^Revoke: secret/ });
    // What a person does who is not sure that it worked.
    await developer.reload();
    expect(await developer.locator('.secret').count()).toBe(0);
    expect([await applications(), await secrets.count()]).toEqual([1, 1]);
    const clientId = (await developer.locator('dd code').first().textContent()) ?? '';

    const administrator = await browser.open(`${service.url}/admin/applications/${clientId}`, { javaScriptEnabled });
    await logIn(administrator, service.username, service.password);
    await administrator.getByLabel('Status', { exact: true }).selectOption('approved');
    await administrator.getByLabel('Review level').selectOption('verified');
    await administrator.getByRole('button', { name: 'Save review' }).click();
    await administrator.getByText('The review was saved.').waitFor();

    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: `${client.url}/callback`,
      scope: 'meta query unlock',
      state: 'a&b',
      response_mode: 'redirect',
    });
    const user = await browser.open(`${service.url}/openapi/authorize?${query.toString()}`, { javaScriptEnabled });
    await user.getByRole('link', { name: 'Create one' }).click();
    await register(user, `user-${suffix}`);
    await user.getByText(`(user-${suffix})`).waitFor();
    await user.getByRole('checkbox', { name: /Look up resources/ }).uncheck();
    await user.getByRole('button', { name: 'Allow' }).click();
    await user.waitForURL(`${client.url}/callback?**`);
    const { code = '', ...rest } = Object.fromEntries(new URL(user.url()).searchParams);
    expect(rest).toEqual({ state: 'a&b', iss: service.url });

    const key = { 'X-API-Key': secret };
    const grant = { grant_type: 'authorization_code', code, redirect_uri: `${client.url}/callback` };
    const first = await call(TOKEN, key, grant);
    expect(first).toMatchObject({ success: true, scope: 'meta unlock' });
    const bearer = { ...key, Authorization: `Bearer ${String(first['access_token'])}` };
    expect(await call('/api/open/quota', bearer)).toMatchObject({ success: true });
    const refresh = { grant_type: 'refresh_token', refresh_token: first['refresh_token'] };
    const second = await call(TOKEN, key, refresh);
    expect(second).toMatchObject({ success: true, scope: 'meta unlock' });

    await user.goto(`${service.url}/openapi/authorize?${query.toString().replace('meta+query+unlock', 'meta')}`);
    // Allowed before, by an application that was reviewed: nobody is asked again.
    await user.waitForURL(`${client.url}/callback?code=**`);

    await user.goto(`${service.url}/authorized`);
    await user.getByRole('button', { name: `Revoke: ${HOSTILE}` }).click();
    await user.getByText('No application acts for you.').waitFor();
    const after = { ...key, Authorization: `Bearer ${String(second['access_token'])}` };
    expect(await call('/api/open/quota', after)).toMatchObject({ success: false, code: 'OPENAPI_REAUTH_REQUIRED' });
    expect(await call(TOKEN, key, { ...refresh, refresh_token: second['refresh_token'] })).toMatchObject({
      success: false,
    });

    await user.goto(`${service.url}/openapi/authorize?${query.toString()}`);
    await user.getByRole('button', { name: 'Deny' }).click();
    await user.waitForURL(`${client.url}/callback?error=access_denied**`);
  });

  it('returns from a login in the middle to the application without another question, if it was allowed before', async () => {
    const admin = await service.administrator();
    const made = await admin.call<{ data: { client_id: string; secret: { secret: string } } }>(
      'POST',
      '/api/site/applications',
      { name: 'Known', scopes: ['meta'], redirect_uris: [`${client.url}/known`] },
    );
    const { client_id: clientId, secret } = made.data;
    await admin.call('PATCH', `/api/site/admin/applications/${clientId}`, {
      auth_level: 'verified',
      status: 'approved',
    });
    const query = new URLSearchParams({ client_id: clientId, redirect_uri: `${client.url}/known`, scope: 'meta' });
    const address = `${service.url}/openapi/authorize?${query.toString()}`;
    const code = (await admin.decide(address, 'allow')).searchParams.get('code');
    const grant = { grant_type: 'authorization_code', code, redirect_uri: `${client.url}/known` };
    expect(await call(TOKEN, { 'X-API-Key': secret.secret }, grant)).toMatchObject({ success: true });

    const page = await browser.open(address, { javaScriptEnabled });
    await logIn(page, service.username, service.password);
    await page.waitForURL(`${client.url}/known?code=**`);
  });

  it('shows errors, and moves the focus to the field', async () => {
    const page = await browser.open(`${service.url}/register`, { javaScriptEnabled });
    await page.getByLabel('Username').fill('ab');
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();
    const summary = page.getByRole('alert');
    await summary.waitFor();
    expect(await page.title()).toMatch(/^Error: /);
    await summary.getByRole('link', { name: /^Password/ }).click();
    expect(await page.locator(':focus').getAttribute('id')).toBe('password');
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
  });
});

it('redirect URIs are checked while they are typed', async () => {
  const page = await browser.open(`${service.url}/register?return_to=%2Fdeveloper`);
  await register(page, 'typist');
  await page.getByLabel('Redirect URIs').fill('https://app.example.org/callback\nmy.app:/callback');
  const note = page.locator('#redirect_uris-check');
  await note.getByText('my.app:/callback: must use https').waitFor();
  expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Application type').selectOption('native');
  await note.waitFor({ state: 'hidden' });
  expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBeNull();
  await page.context().close();
});

it('copies a secret with one click, or says that the browser does not allow it', { timeout: 60_000 }, async () => {
  const page = await browser.open(`${service.url}/register?return_to=%2Fdeveloper`);
  await register(page, 'copies');
  await page.getByLabel('Name', { exact: true }).fill('Copied');
  await page.getByLabel('Redirect URIs').fill(`${client.url}/callback`);
  await page.getByRole('button', { name: 'Register' }).click();
  // By its place: its text changes.
  const button = page.locator('.secret button');
  const secret = await page.locator('.secret code').innerText();
  await page.context().grantPermissions([], { origin: service.url });
  await button.click();
  await expect.poll(() => button.innerText()).toBe('Not allowed here: select the text and copy it by hand');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
  await button.click();
  await expect.poll(() => button.innerText()).toBe('Copied');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
});

describe('pages in light and in dark colours', { timeout: 90_000 }, () => {
  it('have one heading, names for every control, and enough contrast', async () => {
    const page = await browser.open(`${service.url}/login`);
    await logIn(page, service.username, service.password);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    for (const path of [...PAGES, ...ADMIN_PAGES]) await expectReadable(page, path);
  });

  it('are readable for strangers, too', async () => {
    const page = await browser.open(`${service.url}/`);
    for (const path of PAGES_OF_STRANGERS) await expectReadable(page, path);
  });

  it.each(['light', 'dark'] as const)('are beside a readable API reference, in %s colours', async (colorScheme) => {
    const page = await browser.open(`${service.url}/docs`, { colorScheme, viewport: { width: 1280, height: 900 } });
    await page.locator('.opblock').first().waitFor({ timeout: 60_000 });
    await page.locator('.opblock-post .opblock-summary-control').first().click();
    await page.getByRole('region', { name: 'Code samples' }).waitFor();
    await page.getByLabel('Example', { exact: true }).first().waitFor();
    // Swagger UI decides about the levels of its headings, and about landmarks.
    const findings = (await axeFindings(page)).filter((finding) => !/^(?:heading-order|region) /.test(finding));
    expect(findings).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('let the keyboard skip to the content, in %s colours', async (colorScheme) => {
    const page = await browser.open(`${service.url}/login`, { colorScheme });
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(page.url()).toBe(`${service.url}/login#content`);
  });
});

async function expectReadable(page: Page, path: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${service.url}${path}`);
  expect(await page.locator('h1').count(), path).toBe(1);
  expect(await axeFindings(page), path).toEqual([]);
  expect(await textContrast(page), path).toBeGreaterThan(7);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await axeFindings(page, COLOURS_ONLY), `${path}, dark`).toEqual([]);
  expect(await textContrast(page), `${path}, dark`).toBeGreaterThan(7);
}

/** Of the text of a page to its ground. */
async function textContrast(page: Page): Promise<number> {
  const [ground, text] = await page.evaluate(() => {
    const style = getComputedStyle(document.body);
    return [style.backgroundColor, style.color];
  });
  return contrast(ground ?? '', text ?? '');
}

/** WCAG 2.2, relative luminance. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string): number => {
    const parts = [...colour.matchAll(/\d+/g)].slice(0, 3).map(([part]) => Number(part) / 255);
    const [red = 0, green = 0, blue = 0] = parts.map((part) =>
      part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
