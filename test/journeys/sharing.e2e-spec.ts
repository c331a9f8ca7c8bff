import { findPeer, startHttpOrigin, type HttpOrigin } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestBrowser } from '../support/browser.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { registerClient, RunningResourceSharing, type Demonstration } from '../support/resource-sharing.js';
import { Journey, VIEWS, type View } from './journey.js';

const PASSWORD = 'correct horse battery';

let service: RunningResourceSharing;
let browser: TestBrowser;
/** Where the application waits for its codes. */
let client: HttpOrigin;
let demo: Demonstration;

beforeAll(async () => {
  if (!havePeers(['chromium'])) return; // each test says so itself
  service = await RunningResourceSharing.start();
  browser = await TestBrowser.start(findPeer('chromium')!);
  client = await startHttpOrigin();
  demo = await service.seedDemo([`${client.url}/demo`]);
}, 90_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await service?.[Symbol.asyncDispose]();
  await client?.close();
});

beforeEach((context) => requirePeer(context, 'chromium'));
afterEach(() => {
  // Redirections lead to the application, which is another host.
  const problems = browser?.problems.splice(0) ?? [];
  expect(problems.filter((problem) => !problem.startsWith(`request: ${client.url}/`))).toEqual([]);
});

const signedIn = (view: View, username: string, password: string): Promise<Journey> =>
  Journey.signedIn(browser, service.url, 'sharing', { view, username, password });

describe.each(VIEWS)('at $width px, $colorScheme, $language', { timeout: 60_000 }, (view) => {
  const tag = view.language.toLowerCase();

  it('leads a developer from the registration to the first call', async () => {
    await using journey = await Journey.start(browser, service.url, 'sharing', view);
    const { page } = journey;
    await page.goto(`${service.url}/`);
    await journey.press('link', 'Create account', page.locator('main'));
    await journey.fill('Username', `dev-${tag}`);
    await journey.fill('Password', PASSWORD);
    await journey.press('button', 'Create account');
    await journey.goTo('Developer', 'Site');
    await journey.fill('Name', `Player ${tag}`);
    await journey.fill('Redirect URIs', `${client.url}/callback`);
    await journey.press('button', 'Register');
    const secret = await page.locator('.secret code').innerText();
    await journey.picture('sharing-application');
    // What the developer pastes into a shell: it belongs to the address on the same page.
    const sample = await page.locator('pre', { hasText: 'curl -fsS' }).first().innerText();
    const [, clientId = ''] = /-u ([^:]+):/.exec(sample) ?? [];
    const [, verifier = ''] = /code_verifier=(\S+)/.exec(sample) ?? [];
    // The quickstart has the address to send users to; its developer may allow it before the review.
    await journey.click(page.locator('a[href*="/oauth2/authorize?"]').first());
    await journey.press('button', 'Allow');
    await page.waitForURL(`${client.url}/callback?**`);
    const code = new URL(page.url()).searchParams.get('code')!;
    const answer = await fetch(`${service.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${secret}`)}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: `${client.url}/callback`,
        code_verifier: verifier,
      }),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const call = await fetch(`${service.url}/api/open/ping`, {
      headers: { 'X-API-Key': secret, authorization: `Bearer ${token}` },
    });
    expect(await call.json()).toMatchObject({ success: true });
    await page.goto(`${service.url}/developer`);
    await journey.end('Developer: registration to the first call');
  });

  it('unlocks a share and finds it again', async () => {
    await using journey = await signedIn(view, 'demo-viewer', demo.viewerPassword);
    const { page } = journey;
    const [title, share] =
      view.language === 'en' ? ['Demo film', 'Demo film, for points'] : ['Demo series', 'Demo series, first season'];
    await journey.picture('sharing-home');
    await journey.goTo('Browse', 'Site');
    await journey.fill('Search by name or TMDB ID', title);
    await journey.press('button', 'Search');
    await journey.click(page.getByRole('link', { name: title, exact: true }));
    await journey.click(page.getByRole('link', { name: share, exact: true }));
    await journey.press('button', 'Unlock for {price, plural, one {# point} other {# points}}');
    await journey.picture('sharing-share');
    const link = journey.find('link', 'Open link');
    const address = await link.getAttribute('href');
    expect(address).toMatch(/^https:/);
    await journey.goTo('Unlocked', 'Site');
    await journey.click(page.getByRole('link', { name: share }).first());
    expect(await journey.find('link', 'Open link').getAttribute('href')).toBe(address);
    await journey.end('Unlock a share and find it again');
  });

  it('reviews an application', async () => {
    const registered = await registerClient(demo.developer, {
      name: `Reviewed ${tag}`,
      redirect_uris: [`${client.url}/reviewed`],
    });
    await using journey = await signedIn(view, service.username, service.password);
    const { page } = journey;
    await journey.goTo('Administration', 'Site');
    // The applications of the other journeys wait as well: this one is the last.
    await journey.click(page.getByRole('link', { name: `Reviewed ${tag}` }));
    await journey.press('button', 'Approve');
    await journey.see('The decision was saved.');
    await journey.end('Review an application');
    const administrator = await service.administrator();
    const { data } = await administrator.call<{ data: { status: string } }>(
      'GET',
      `/api/site/admin/applications/${registered.id}`,
    );
    expect(data.status).toBe('approved');
  });

  it('signs in', async () => {
    await using journey = await Journey.start(browser, service.url, 'sharing', view);
    await journey.signIn(service);
    await journey.atFirstPage();
    await journey.end('Sign in: sharing site');
  });
});
