import { createHmac } from 'node:crypto';
import { findPeer, makeCertificate, startHttpOrigin, type HttpOrigin } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestBrowser } from '../support/browser.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';
import { Journey, VIEWS, type View } from './journey.js';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'staple battery horse';

let gateway: RunningTunnelGateway;
let browser: TestBrowser;
let site: HttpOrigin;

beforeAll(async () => {
  if (!havePeers(['chromium'])) return; // each test says so itself
  gateway = await RunningTunnelGateway.start();
  browser = await TestBrowser.start(findPeer('chromium')!);
  site = await startHttpOrigin();
  await gateway.clientWithAgent();
}, 90_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await site?.close();
});

beforeEach((context) => requirePeer(context, 'chromium'));
afterEach(() => expect(browser?.problems.splice(0) ?? []).toEqual([]));

const atDashboard = (view: View, username = 'admin', password = gateway.password): Promise<Journey> =>
  Journey.signedIn(browser, gateway.url, 'tunnel', { view, username, password });

/** What an authenticator app shows for a key (RFC 6238). */
function totpOf(base32: string, at: number): string {
  const bits = (base32.match(/[A-Z2-7]/g) ?? [])
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const value = mac.readUInt32BE(mac[19]! & 15) & 0x7fff_ffff;
  return String(value % 1_000_000).padStart(6, '0');
}

describe.each(VIEWS)('at $width px, $colorScheme, $language', { timeout: 60_000 }, (view) => {
  it('publishes a site with TLS and a password', async () => {
    await using journey = await atDashboard(view);
    const { page } = journey;
    const name = `${view.language.toLowerCase()}.localhost`;
    await journey.goTo('Publish a service');
    await journey.fill('Target', String(site.port));
    await journey.fill('Domain', name);
    await journey.choose(/^HTTPS$/, 'own');
    const { certificate, key } = makeCertificate({ subject: name, names: [name] });
    await journey.fillAt(journey.find('textbox', 'Certificate'), certificate);
    await journey.fill('Private key', key);
    await journey.choose('Access', 'password');
    await journey.fill('Visitors’ password', 'open sesame');
    await journey.picture('tunnel-publish');
    await journey.press('button', 'Publish');
    await journey.see('Visitors get an answer');
    const address = `https://${name}:${gateway.ports.https}/`;
    await page.getByRole('link', { name: address }).waitFor();
    await journey.picture('tunnel-published');
    await journey.end('Publish a site with TLS and a password');

    const visitor = await browser.open(address, { ignoreHTTPSErrors: true });
    await visitor.getByLabel('Password').fill('open sesame');
    await visitor.getByRole('button', { name: 'Sign in' }).click();
    await visitor.getByText('ok', { exact: true }).waitFor();
    await visitor.context().close();
  });

  it('blocks a country', async () => {
    await using journey = await atDashboard(view);
    await journey.goTo('IP rules');
    await journey.press('button', 'New rule');
    const form = journey.find('dialog', 'New rule');
    await journey.choose('Pattern type', 'country', form);
    await journey.choose('Country', view.language === 'en' ? 'AQ' : 'BV', form);
    await journey.press('button', 'Create', form);
    await form.waitFor({ state: 'detached' });
    await journey.end('Block a country');
    const { items } = await gateway.call('GET', '/ip-rules?scope=global');
    expect(items).toMatchObject([
      { type: 'deny', pattern_kind: 'country', pattern: view.language === 'en' ? 'AQ' : 'BV' },
    ]);
    await gateway.call('DELETE', `/ip-rules/${items[0].id}`);
  });

  it('changes the password, sets up an authenticator app, and signs in with its code', async () => {
    const username = `user-${view.language.toLowerCase()}`;
    await gateway.call('POST', '/users', { username, role: 'user', password: PASSWORD });
    await using journey = await atDashboard(view, username, PASSWORD);
    const { page } = journey;
    await journey.goTo('Account');
    const password = journey.find('region', 'Password');
    await journey.fill('Your password', PASSWORD, password);
    await journey.fill('New password', NEW_PASSWORD, password);
    await journey.fill('Repeat new password', NEW_PASSWORD, password);
    await journey.press('button', 'Change password', password);
    await journey.see('The password was changed; all your other sessions have ended.');

    const factor = journey.find('region', 'Two-factor authentication');
    await journey.press('button', 'Set up', factor);
    await journey.fill('Your password', NEW_PASSWORD, factor);
    await journey.press('button', 'Next', factor);
    await journey.find('img', 'QR code for the authenticator app', factor).waitFor();
    const key = await factor.locator('.secret code').innerText();
    const now = Date.now();
    await journey.fill('2. Enter the code that the app shows', totpOf(key, now), factor);
    await journey.press('button', 'Turn on', factor);
    await journey.press('button', 'I have saved them', factor);
    await journey.see('You need a code of your authenticator app to sign in.');
    await journey.end('Change password and set up an authenticator');

    if (view.width < 600) await page.locator('.menu-button').click();
    await journey.find('button', 'Sign out').click();
    await journey.signIn({ username, password: NEW_PASSWORD });
    // Each code is valid once: this is the one that the app shows next.
    await journey.fill('Authentication code', totpOf(key, now + 30_000));
    await journey.press('button', 'Sign in');
    await journey.find('heading', 'Account').first().waitFor();
  });

  it('signs in', async () => {
    await using journey = await Journey.start(browser, gateway.url, 'tunnel', view);
    await journey.signIn({ username: 'admin', password: gateway.password });
    await journey.atFirstPage();
    await journey.end('Sign in: tunnel console');
  });
});
