import { createHmac } from 'node:crypto';
import { findPeer, startHttpOrigin, type HttpOrigin, type RecordedRequest } from '@gatehouse/testing';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestBrowser } from '../support/browser.js';
import { goTo, keepSecret, signedInAt } from '../support/console-pages.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const PEERS = ['chromium'];

let gateway: RunningTunnelGateway;
let browser: TestBrowser;
let receiver: HttpOrigin;

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  gateway = await RunningTunnelGateway.start();
  browser = await TestBrowser.start(findPeer('chromium')!);
  receiver = await startHttpOrigin();
}, 90_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await receiver?.close();
});

beforeEach((context) => {
  for (const name of PEERS) requirePeer(context, name);
});

afterEach(() => {
  expect(browser?.problems.splice(0) ?? []).toEqual([]);
});

const signedIn = (): Promise<Page> =>
  signedInAt(browser, gateway.url, { username: 'admin', password: gateway.password });

/** Makes a webhook by the form, which is open; resolves to its secret. */
async function fillWebhook(page: Page, name: string): Promise<string> {
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByLabel('Name', { exact: true }).fill(name);
  const address = form.getByLabel('URL');
  await address.fill('ftp://127.0.0.1/hook');
  await form.getByText('None selected: all.').waitFor();
  await form.getByLabel('Client online').check();
  await form.getByText('1 selected.').waitFor();
  await form.getByRole('button', { name: 'Create' }).click();
  await form.locator('input[type=url][aria-invalid=true]').waitFor();
  expect(await address.evaluate((element) => element === document.activeElement)).toBe(true);
  await address.fill(`${receiver.url}/status/204`);
  await form.getByRole('button', { name: 'Create' }).click();
  return keepSecret(page, `Secret of ${name}`);
}

/** Has a test sent from the dialog of deliveries; resolves to what arrived. */
async function sendTest(page: Page, name: string): Promise<RecordedRequest> {
  const tests = (): RecordedRequest[] => receiver.requests.filter(({ body }) => body.includes('"webhook.test"'));
  const before = tests().length;
  await page.getByRole('button', { name: `Deliveries of ${name}` }).click();
  const dialog = page.getByRole('dialog', { name: `Deliveries of ${name}` });
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  // The message about the one before may still be there.
  await page.getByText('A test was sent.').last().waitFor();
  await expect.poll(() => tests().length).toBe(before + 1);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  return tests()[before]!;
}

/** As receivers of Standard Webhooks look at it. */
function isSigned(secret: string, { headers, body }: RecordedRequest): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

describe('the console of the tunnel gateway for programs', { timeout: 90_000 }, () => {
  it('receives events, shows them, and checks them with the secret that was shown once', async () => {
    const page = await signedIn();
    await goTo(page, 'Webhooks');
    await page.getByText('No webhook yet.').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    const secret = await fillWebhook(page, 'chat');
    const row = page.getByRole('row', { name: /chat .*Client online .*ok/ });
    await row.waitFor();
    expect(isSigned(secret, await sendTest(page, 'chat'))).toBe(true);

    await page.getByRole('button', { name: 'New secret of chat' }).click();
    await page.getByRole('button', { name: 'Create secret' }).click();
    const newSecret = await keepSecret(page, 'Secret of chat');
    const test = await sendTest(page, 'chat');
    expect([isSigned(secret, test), isSigned(newSecret, test)]).toEqual([false, true]);

    await gateway.clientWithAgent();
    await page.getByRole('button', { name: 'Deliveries of chat' }).click();
    const got = page.getByRole('dialog', { name: 'Deliveries of chat' });
    await got.getByRole('row', { name: /delivered client\.online .* 1 204/ }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('shows the answer of a receiver, sends nothing once disabled, and can be deleted', async () => {
    const { id } = await gateway.call('POST', '/webhooks', {
      name: 'deaf',
      url: `${receiver.url}/status/500`,
      event_types: ['tunnel.failed'],
    });
    const page = await signedIn();
    await goTo(page, 'Webhooks');
    await sendTest(page, 'deaf');
    await page.getByRole('button', { name: 'Deliveries of deaf' }).click();
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /failed webhook\.test .* 500 the answer was 500/ })
      .waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Edit deaf' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit deaf' });
    await edit.getByLabel('Name', { exact: true }).fill('hard of hearing');
    await edit.getByRole('button', { name: 'Save' }).click();
    await page.getByText('hard of hearing was saved.').waitFor();
    await page.getByRole('switch', { name: 'hard of hearing enabled' }).click();
    await expect.poll(async () => (await gateway.call('GET', `/webhooks/${id}`)).status).toBe(0);

    await page.getByRole('button', { name: 'Delete hard of hearing' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('hard of hearing was deleted.').waitFor();
    await page.getByRole('row', { name: /hard of hearing/ }).waitFor({ state: 'detached' });
  });

  it('shows a key once, which works until it is revoked, and creating it needs the password', async () => {
    const page = await signedIn();
    await goTo(page, 'API keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByLabel('Name', { exact: true }).fill('backup');
    await form.getByLabel('Your password').fill('not the password');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByRole('alert').getByText('password or the code is wrong').waitFor();
    await form.getByLabel('Your password').fill(gateway.password);
    await form.getByRole('button', { name: 'Create' }).click();
    const key = await keepSecret(page, 'Key backup');
    await page.getByRole('row', { name: new RegExp(`backup .*${key.slice(-4)} Read you`) }).waitFor();
    expect(await statusWith(key, 'GET')).toBe(200);
    expect(await statusWith(key, 'POST')).toBe(403);

    await page.getByRole('button', { name: 'Revoke backup' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('backup was revoked.').waitFor();
    expect(await statusWith(key, 'GET')).toBe(401);
  });
});

async function statusWith(key: string, method: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = method === 'GET' ? undefined : JSON.stringify({ name: 'not for readers' });
  return (await fetch(`${gateway.url}/api/v1/clients`, { method, headers, ...(body && { body }) })).status;
}
