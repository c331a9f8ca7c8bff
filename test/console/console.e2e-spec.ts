import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { NodePage, NodeView } from '@gatehouse/contracts';
import { findPeer, startHttpOrigin, type HttpOrigin } from '@gatehouse/testing';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFindings, COLOURS_ONLY } from '../support/axe.js';
import { TestBrowser, untilDrawn } from '../support/browser.js';
import {
  apiNamesIn,
  englishIn,
  expectLoading,
  fillLogin,
  goTo,
  keepSecret,
  signedInAt,
} from '../support/console-pages.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { addRuntimeLogs } from '../support/runtime-log-rows.js';
import { addTrafficLogs } from '../support/traffic-log-rows.js';

const PEERS = ['chromium', 'microsocks'];
/** Of the programs, on a busy machine. */
const START_MS = 180_000;
const PAGES = [
  'Nodes',
  'Subscriptions',
  'Groups',
  'Rules',
  'Publications',
  'Connections',
  'Traffic log',
  'Runtime log',
];
const MORE_PAGES = ['Audit log', 'Settings', 'Proxy users', 'API keys', 'System', 'Dashboard'];

const programs = new Programs();
let gateway: RunningProxyGateway;
let browser: TestBrowser;
let origin: HttpOrigin;
let provider: Server | undefined;
let socksPort: number;

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  await Promise.all([
    RunningProxyGateway.start().then((started) => (gateway = started)),
    TestBrowser.start(findPeer('chromium')!).then((started) => (browser = started)),
  ]);
  origin = await startHttpOrigin();
  socksPort = await programs.start(findPeer('microsocks')!, (port) => ['-i', '127.0.0.1', '-p', String(port)]);
}, START_MS);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await origin?.close();
  provider?.close();
  await programs.stopAll();
});

beforeEach((context) => {
  for (const name of PEERS) requirePeer(context, name);
});

afterEach(async () => {
  await browser?.closePages();
  expect(browser?.problems.splice(0) ?? []).toEqual([]);
});

const signIn = (page: Page, password = gateway.password): Promise<void> => fillLogin(page, { password });

const signedIn = (options?: Parameters<TestBrowser['open']>[1]): Promise<Page> =>
  signedInAt(browser, gateway.url, { password: gateway.password }, options);

/** Fetches an address through the kernel, as a program that uses the proxy would. */
function throughProxy(port: number, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: url, headers: { host: new URL(url).host }, agent: false });
    asked.on('error', reject).on('response', (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.setTimeout(10_000, () => asked.destroy(new Error('no answer in time'))).end();
  });
}

/** The group PROXY uses a node that leads to this machine. */
async function useHarbour(): Promise<void> {
  const { items } = await gateway.call<{ items: NodeView[] }>('GET', '/proxies?search=Harbour');
  const raw_config = `socks5://127.0.0.1:${socksPort}`;
  if (items.length === 0) await gateway.call('POST', '/proxies', { raw_config, name: 'Harbour' });
  await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: 'Harbour' });
}

/** A connection through the kernel that stays open until it is closed there. */
async function openTunnel(port: number, target: string): Promise<{ closed: Promise<unknown> }> {
  const asked = request({ host: '127.0.0.1', port, method: 'CONNECT', path: target, agent: false }).end();
  const [answer, socket] = (await once(asked, 'connect')) as [IncomingMessage, Socket];
  expect(answer.statusCode).toBe(200);
  const closed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  socket.resume();
  return { closed };
}

describe('the console', { timeout: 90_000 }, () => {
  it('leads from the login over a node, a group, a rule and a test to traffic, and to the logout', async () => {
    const page = await signedIn();

    await goTo(page, 'Nodes');
    await page.getByRole('button', { name: 'Add node' }).click();
    await page.getByLabel('Link or configuration').fill(`socks5://127.0.0.1:${socksPort}`);
    await page.getByLabel('Name', { exact: true }).fill('Harbour');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Harbour was added.').waitFor();
    await page
      .getByRole('row', { name: /Harbour/ })
      .getByText(`127.0.0.1:${socksPort}`)
      .waitFor();

    await goTo(page, 'Groups');
    const group = page.getByRole('region', { name: 'Group PROXY' });
    await group.getByRole('button', { name: /^Harbour/ }).click();
    await page.getByText('PROXY uses Harbour.').waitFor();
    await group.getByRole('button', { name: /^Harbour/, pressed: true }).waitFor();

    await goTo(page, 'Rules');
    await page.getByRole('button', { name: 'Add rule' }).click();
    const ruleForm = page.getByRole('dialog', { name: 'Add a rule' });
    await ruleForm.getByLabel('Type').fill('IP-CIDR');
    await ruleForm.getByLabel('Value', { exact: true }).fill('127.0.0.0/8');
    await ruleForm.getByLabel('Target').fill('PROXY');
    await ruleForm.getByLabel('Do not resolve domains').check();
    await ruleForm.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('IP-CIDR,127.0.0.0/8,PROXY,no-resolve was saved.').waitFor();

    await page.getByRole('link', { name: 'Test a URL' }).click();
    await page.getByLabel('URL or host').fill(`${origin.url}/bytes/100`);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const outcome = page.getByRole('region', { name: 'Result' });
    await outcome.getByText('PROXY → Harbour').waitFor();
    await outcome.getByRole('row', { name: /IP-CIDR 127\.0\.0\.0\/8 match/ }).waitFor();

    expect(await throughProxy(await gateway.proxyPort(), `${origin.url}/bytes/123456`)).toBe(200);
    await goTo(page, 'Traffic log');
    const row = page.getByRole('row', { name: /Completed 200/ });
    await row.getByText('Harbour').waitFor();
    expect(await row.getByText('121 KiB').count()).toBe(1);
    await row.getByRole('button').click();
    await page.getByRole('dialog').getByText('IP-CIDR,127.0.0.0/8').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Administrator password').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  it('closes a connection and turns it into a rule, and keeps the filter across a reload', async () => {
    await useHarbour();
    const port = new URL(origin.url).port;
    const tunnel = await openTunnel(await gateway.proxyPort(), `localhost:${port}`);
    const page = await signedIn();
    await goTo(page, 'Connections');
    const row = page.getByRole('row', { name: new RegExp(`localhost:${port}`) });
    await row.getByText('→ Harbour').waitFor();

    await page.getByLabel('Search by host').fill('localhost');
    await page.getByLabel('Node', { exact: true }).selectOption('Harbour');
    await page.reload();
    await row.waitFor();
    expect(await page.getByLabel('Search by host').inputValue()).toBe('localhost');
    expect(await page.getByLabel('Node', { exact: true }).inputValue()).toBe('Harbour');
    await page.getByLabel('Search by host').fill('somewhere else');
    await page.getByText('No connection matches the filter.').waitFor();
    await page.getByRole('button', { name: 'Reset filters' }).click();
    expect(await page.evaluate(() => location.hash)).toBe('#/connections');

    await row.getByRole('button', { name: 'Details of' }).click();
    const detail = page.getByRole('dialog', { name: 'Connection to localhost' });
    await detail.getByRole('link', { name: 'Harbour' }).waitFor();
    await detail.getByRole('button', { name: 'Add rule' }).click();
    const form = page.getByRole('dialog', { name: 'Add a rule' });
    await form.getByRole('button', { name: 'DOMAIN localhost', pressed: true }).waitFor();
    await form.getByRole('button', { name: `DST-PORT ${port}` }).click();
    await form.getByLabel('Target').fill('REJECT');
    await form.getByLabel('Position').selectOption('At the top');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`DST-PORT,${port},REJECT was saved.`).waitFor();

    await row.getByRole('button', { name: 'Close the connection' }).click();
    await tunnel.closed;
    await page.getByRole('link', { name: 'Closed (1)' }).click();
    await row.getByText('→ Harbour').waitFor();

    await page.getByRole('button', { name: 'Show rule' }).click();
    const saved = page.getByRole('row', { name: new RegExp(`DST-PORT ${port} REJECT`) });
    await saved.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`DST-PORT,${port},REJECT was deleted.`).waitFor();
  });

  it('finds rules, moves them by pointer and keyboard, and keeps the order of the service', async () => {
    await gateway.call('POST', '/rules', { raw: 'DOMAIN,stays.example,DIRECT' });
    for (const name of ['a', 'b', 'c']) {
      await gateway.call('POST', '/rules', { raw: `DOMAIN,${name}.moved.example,DIRECT`, note: 'to be moved' });
    }
    const order = async (): Promise<string> => {
      const { items } = await gateway.call<{ items: { payload: string }[] }>('GET', '/rules?source=manual&limit=500');
      return items.flatMap(({ payload }) => /^(\w)\.moved/.exec(payload)?.[1] ?? []).join('');
    };
    const page = await signedIn();
    await page.goto(`${gateway.url}/#/rules?search=MOVED.example`);
    const table = page.getByRole('table', { name: 'Manual rules' });
    await table.getByRole('row', { name: /c\.moved/ }).waitFor();
    expect(await table.getByRole('row').count()).toBe(4);
    await page.getByRole('button', { name: 'Reset filters' }).click();
    // The rows below are moved by their places, so all of them have to be there.
    await table.getByRole('row', { name: /stays\.example/ }).waitFor();

    const handle = (name: string) =>
      page.getByRole('button', { name: `Move DOMAIN,${name}.moved.example,DIRECT`, exact: true });
    await handle('c').press('ArrowUp');
    await expect.poll(order).toBe('acb');
    await expect.poll(() => handle('c').evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(order).toBe('abc');

    const rows = table.getByRole('row').filter({ hasText: '.moved.example' });
    const shown = async (): Promise<string> =>
      (await rows.allInnerTexts()).map((text) => /(\w)\.moved/.exec(text)?.[1]).join('');
    await expect.poll(shown).toBe('abc');
    await handle('a').hover();
    await page.mouse.down();
    const last = (await rows.last().boundingBox())!;
    await page.mouse.move(last.x + 20, last.y + last.height - 2, { steps: 4 });
    await page.mouse.up();
    await expect.poll(order).toBe('bca');

    await page.route('**/api/v1/rules/*', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 409, json: { error: 'Not now.', code: 'CONFLICT' } })
        : route.continue(),
    );
    await handle('a').press('Home');
    await page.getByText('Not now.').waitFor();
    await expect.poll(shown).toBe('bca');
    expect(await order()).toBe('bca');
  });

  it('puts a rule behind those of the active profile, and marks it', async () => {
    await gateway.call('POST', '/rules', { raw: 'DOMAIN,behind.example,DIRECT' });
    const saved = async (): Promise<unknown> => {
      const { items } = await gateway.call<{ items: object[] }>('GET', '/rules?search=behind.example');
      return items[0];
    };
    const page = await signedIn();
    await page.goto(`${gateway.url}/#/rules?search=behind.example`);
    const row = page.getByRole('row', { name: /behind\.example/ });
    const change = async (act: 'check' | 'uncheck'): Promise<void> => {
      await row.getByRole('button', { name: 'Edit' }).click();
      const form = page.getByRole('dialog', { name: 'Edit rule' });
      await form.getByLabel('Behind the rules of the active profile')[act]();
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
    };
    await change('check');
    await row.getByText('behind the profile').waitFor();
    expect(await saved()).toMatchObject({ after_profile: true });
    await change('uncheck');
    await row.getByText('behind the profile').waitFor({ state: 'detached' });
    expect(await saved()).toMatchObject({ after_profile: false });
  });

  it('has pages that axe finds nothing wrong with, in light and in dark colours', async () => {
    const page = await signedIn({ colorScheme: 'light' });
    for (const name of [...PAGES, ...MORE_PAGES]) {
      await goTo(page, name);
      await untilDrawn(page);
      expect(await page.locator('h1').count(), name).toBe(1);
      expect(await axeFindings(page), name).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await axeFindings(page, COLOURS_ONLY), `${name}, dark`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      const alerts = await page.getByRole('alert').allInnerTexts();
      expect(alerts.join('').trim(), name).toBe('');
    }
  }, 180_000);

  it('is in Chinese for Chinese readers, on every page', async () => {
    const page = await browser.open(gateway.url, { locale: 'zh-CN' });
    await page.getByLabel('管理员密码').fill(gateway.password);
    await page.getByRole('button', { name: '登录' }).click();
    await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN');
    const links = page.getByRole('navigation', { name: '页面' }).getByRole('link');
    for (let index = 0; index < (await links.count()); index++) {
      await links.nth(index).click();
      await page.getByRole('heading', { name: (await links.nth(index).innerText()).trim(), level: 1 }).waitFor();
      await expect.poll(() => englishIn(page), { message: await page.title() }).toEqual([]);
      expect(await apiNamesIn(page), await page.title()).toEqual([]);
    }
    await page.getByLabel('语言').selectOption('en');
    await page.getByRole('heading', { name: 'System', level: 1 }).waitFor();
  });

  it('says on every page that it is loading until the service has answered', async () => {
    const page = await signedIn();
    await expectLoading(page, { forms: [], views: ['#/kernels', '#/rules?tab=merged', '#/rules?tab=sets'] });
  });

  it('has a label for every setting of the service', async () => {
    const page = await signedIn();
    await goTo(page, 'Settings');
    await page.getByRole('heading', { name: 'Access' }).waitFor();
    const others = page.getByRole('region', { name: 'Others' });
    expect(await others.locator('code').allInnerTexts(), 'settings without labels in setting-catalogue.ts').toEqual([]);
    // The list of sections leads to the last of them.
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Access' }).click();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Access');
    expect(
      await page
        .getByRole('heading', { name: 'Access' })
        .evaluate((one) => one.getBoundingClientRect().top < innerHeight),
    ).toBe(true);
  });

  it('shows which settings are not as by default, and resets one', async () => {
    const changed = { 'health.tolerance_ms': '70', 'routing.mode': 'direct' };
    const before = await gateway.call<Record<string, string>>('GET', '/settings');
    await gateway.call('PUT', '/settings', changed);
    const page = await signedIn();
    await goTo(page, 'Settings');
    await page.getByRole('button', { name: /^Changed from default/ }).click();
    const fields = page.locator('.setting');
    await fields.filter({ hasText: 'routing.mode' }).getByText('Default: Rule').waitFor();
    expect(await fields.filter({ hasText: 'health.interval_sec' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Reset Tolerance (ms) to default' }).click();
    expect(await page.getByLabel('Tolerance (ms)', { exact: true }).inputValue()).toBe('100');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved, and in force.').waitFor();
    const now = await gateway.call<Record<string, string>>('GET', '/settings');
    expect(now).toEqual({ ...before, ...changed, 'health.tolerance_ms': '100' });
    await gateway.call('PUT', '/settings', { 'routing.mode': 'rule' });
  });

  it('shows errors of the service beside the field, and moves the focus there', async () => {
    const page = await signedIn();
    await goTo(page, 'Settings');
    const field = page.getByLabel('Concurrent tests', { exact: true });
    await field.fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Must be a whole number from 1 to 1024').waitFor();
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('32');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved, and in force.').waitFor();
    expect((await gateway.call<Record<string, string>>('GET', '/settings'))['health.concurrency']).toBe('32');
  });

  it('shows a key once, which works until it is revoked', async () => {
    const page = await signedIn();
    await goTo(page, 'API keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByLabel('Name', { exact: true }).fill('backup');
    await form.getByLabel('Expires').fill('2001-01-01T00:00');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('Must be in the future').waitFor();
    await form.getByLabel('Expires').fill('');
    await form.getByRole('button', { name: 'Create' }).click();
    const key = await keepSecret(page, 'Key backup');
    await page.getByRole('row', { name: new RegExp(`backup .*${key.slice(-4)} Read, without secrets`) }).waitFor();
    const status = async (): Promise<number> =>
      (await fetch(`${gateway.url}/api/v1/proxies`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status()).toBe(200);

    await page.getByRole('button', { name: 'Revoke backup' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('backup was revoked.').waitFor();
    expect(await status()).toBe(401);
  });

  it('adds a user of the proxy, whose address works and whose limits hold, on a phone', async () => {
    const page = await signedIn({ viewport: { width: 390, height: 844 } });
    await page.goto(`${gateway.url}#/users`);
    await page.getByText('No user yet: everyone who reaches the proxy may use it').waitFor();
    await page.getByRole('button', { name: 'New user' }).click();
    const form = page.getByRole('dialog', { name: 'New user' });
    await form.getByLabel('Name', { exact: true }).fill('two words');
    await form.getByLabel('Traffic quota (GiB)').fill('1.5');
    await form.getByLabel('Quota starts again').selectOption('Each month');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await form.getByText('Must be 1 to 64 characters of printable ASCII without spaces and colons').waitFor();
    await form.getByLabel('Name', { exact: true }).fill('ann');
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Add', exact: true }).click();

    const shown = page.getByRole('dialog', { name: 'Address for ann' });
    const address = new URL(
      await shown
        .locator('code')
        .filter({ hasText: /^http:/ })
        .innerText(),
    );
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    const row = page.getByRole('row', { name: /ann/ });
    await row.getByText(/0.B of 1.5.GiB a month/).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const status = async (password: string): Promise<number> => {
      const login = Buffer.from(`${address.username}:${password}`).toString('base64');
      const headers = { 'proxy-authorization': `Basic ${login}` };
      const asked = request({ host: address.hostname, port: address.port, path: 'http://127.0.0.1:1/', headers });
      const [reply] = await once(asked.end(), 'response');
      return reply.statusCode;
    };
    // The target does not answer, but the proxy has let the user in.
    expect([await status(address.password), await status('wrong-password')]).toEqual([502, 407]);

    await page.goto(`${gateway.url}#/rules?tab=test`);
    await page.getByLabel('URL or host').fill('http://a.test/');
    await page.getByLabel('User', { exact: true }).fill('ann-country-aq');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('The connection would be refused: there is no such node: country-aq').waitFor();
    await page.goto(`${gateway.url}#/`);
    await page.getByRole('table', { name: 'Users of the period' }).getByRole('link', { name: 'ann' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

    await page.goto(`${gateway.url}#/users`);
    await row.getByRole('button', { name: 'Edit ann' }).click();
    const editing = page.getByRole('dialog', { name: 'Edit ann' });
    await editing.getByLabel('Allowed addresses').fill('10.0.0.0/8');
    await editing.getByRole('button', { name: 'Save' }).click();
    await page.getByText('ann was saved.').waitFor();
    expect(await status(address.password)).toBe(403);
    await row.getByRole('button', { name: 'Reset the traffic of ann' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset traffic' }).click();
    await page.getByText('The traffic of ann was reset.').waitFor();
    await row.getByRole('button', { name: 'Delete ann' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No user yet').waitFor();
  });

  it('keeps a template, shows it with nodes in it, and publishes over it, on a phone', async () => {
    await gateway.call('POST', '/proxies', { raw_config: 'socks5://127.0.0.3:9', name: 'Jetty' });
    const page = await signedIn({ viewport: { width: 390, height: 844 } });
    await page.goto(`${gateway.url}#/publications`);
    await page.getByRole('button', { name: 'New template' }).click();
    const form = page.getByRole('dialog', { name: 'New template' });
    await form.getByLabel('Name', { exact: true }).fill('My rules');
    const text = form.getByLabel('Configuration');
    await text.fill(
      'proxy-groups:\n  - {name: Mine, type: select, include-all: true, filter: Jetty}\nrules:\n  - MATCH,Yours\n',
    );
    await form.getByRole('button', { name: 'Preview' }).click();
    await form.getByText('line 4: the target "Yours" is no group').waitFor();
    await text.fill(
      'proxy-groups:\n  - {name: Mine, type: select, include-all: true, filter: Jetty}\nrules:\n  - MATCH,Mine\n',
    );
    await form.getByRole('button', { name: 'Preview' }).click();
    await form.getByText('"proxies":["Jetty"]').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('My rules was saved.').waitFor();

    await page.getByRole('button', { name: 'New publication' }).click();
    const publication = page.getByRole('dialog', { name: 'New publication' });
    await publication.getByLabel('Name', { exact: true }).fill('Boats');
    await publication.getByLabel('My rules (Clash, mihomo)').check();
    await publication.getByRole('button', { name: 'Add', exact: true }).click();
    const address = await keepSecret(page, 'Address of Boats');
    expect(await (await fetch(`${address}?target=clash`)).text()).toContain('"proxies":["Jetty"]');

    const row = page.getByRole('row', { name: /My rules/ });
    await row.getByText('Boats').waitFor();
    await row.getByRole('button', { name: 'Delete My rules' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Publications use template My rules: Boats').waitFor();
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: 'Edit My rules' }).click();
    const editing = page.getByRole('dialog', { name: 'Edit My rules' });
    await editing.getByLabel('Name', { exact: true }).fill('Rules of mine');
    await editing.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Rules of mine was saved.').waitFor();
  });

  it('publishes nodes at an address that is shown once, replaces it, and deletes it, on a phone', async () => {
    for (const [index, name] of ['Pier 1', 'Pier 2'].entries()) {
      const raw_config = `socks5://127.0.0.2:${index + 1}`;
      const { id } = await gateway.call<NodeView>('POST', '/proxies', { raw_config, name });
      await gateway.call('PUT', `/proxies/${id}`, { tags: ['pier'] });
    }
    const page = await signedIn({ viewport: { width: 390, height: 844 } });
    await page.goto(`${gateway.url}#/publications`);
    await page.getByRole('button', { name: 'New publication' }).click();
    const form = page.getByRole('dialog', { name: 'New publication' });
    await form.getByLabel('Name', { exact: true }).fill('Phones');
    await form.getByLabel('Nodes', { exact: true }).selectOption('Some nodes');
    await form
      .getByLabel('Tags')
      .fill(`pier, ${Array.from({ length: 20 }, (_, index) => `other ${index}`).join(', ')}`);
    await form.getByRole('button', { name: 'Add step' }).click();
    await form.getByLabel('Name matches').fill('2$');
    await form.getByLabel('Fetches per hour').fill('0');
    await form.getByRole('button', { name: 'Preview' }).click();
    await form.getByText('1 of 2 nodes chosen.').waitFor();
    await form.getByRole('row', { name: /Links.*\b1\b/ }).waitFor();
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => form.locator('.problem').allInnerTexts()).toHaveLength(1);
    await form.getByLabel('Fetches per hour').fill('');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Add', exact: true }).click();

    const shown = page.getByRole('dialog', { name: 'Address of Phones' });
    await shown.getByRole('img', { name: 'QR code of the address' }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: gateway.url });
    await shown.getByRole('button', { name: 'Copy Address for Surge' }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/\?target=surge$/);
    expect(await axeFindings(page)).toEqual([]);
    const address = await keepSecret(page, 'Address of Phones');
    const links = async (at: string): Promise<[number, string]> => {
      const answer = await fetch(`${at}?target=links`);
      return [answer.status, await answer.text()];
    };
    expect(await links(address)).toEqual([200, expect.stringMatching(/^socks5?:.*#Pier%201\s*$/)]);

    const row = page.getByRole('row', { name: /Phones/ });
    await row.getByText('tag pier, tag other 0').waitFor();
    await row.getByRole('button', { name: 'New address for Phones' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace address' }).click();
    const next = await keepSecret(page, 'Address of Phones');
    expect(await Promise.all([address, next].map(async (at) => (await links(at))[0]))).toEqual([404, 200]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      const table = page.getByRole('group', { name: 'Publications' });
      expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth), `${width}`).toBe(0);
    }

    await row.getByRole('button', { name: 'Edit Phones' }).click();
    const editing = page.getByRole('dialog', { name: 'Edit Phones' });
    await page.reload();
    await editing.getByLabel('Name', { exact: true }).fill('Tablets');
    await editing.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Tablets was saved.').waitFor();

    await page.getByRole('button', { name: 'Switch off Tablets' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('Tablets is off.').waitFor();
    expect((await links(next))[0]).toBe(404);
    await page.getByRole('button', { name: 'Switch on Tablets' }).click();
    await page.getByText('Tablets is on.').waitFor();
    expect((await links(next))[0]).toBe(200);

    await page.getByRole('button', { name: 'Delete Tablets' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Tablets was deleted.').waitFor();
    expect((await links(next))[0]).toBe(404);
  });

  it('shows names as text, whatever they contain', async () => {
    const name = '<img src=x onerror=alert(1)> "quoted" & <b>bold</b>';
    await gateway.call<NodeView>('POST', '/proxies', { raw_config: 'socks5://192.0.2.7:1', name });
    const page = await signedIn();
    await goTo(page, 'Nodes');
    await page.getByLabel('Search by name or server').fill('onerror');
    await page.getByRole('button', { name, exact: true }).waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog', { name }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name);

    // A country without a flag has its letters, in the name and beside it.
    await gateway.call<NodeView>('POST', '/proxies', { raw_config: 'socks5://192.0.2.8:1', name: '🇦🇶 Pole' });
    await page.getByLabel('Search by name or server').fill('Pole');
    const pole = page.getByRole('row', { name: /Pole/ });
    await pole.waitFor();
    expect(await pole.locator('.flag-letters').allInnerTexts()).toEqual(['AQ', 'AQ']);
  });

  it('uses a node of a subscription with one click, tests it, and shows where traffic goes', async () => {
    provider = createServer((_request, response) => {
      response.end(`socks5://localhost:${socksPort}#Quay\nsocks5://127.0.0.1:1#Dead end\n`);
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    await gateway.call('PUT', '/settings', { 'health.url': `${origin.url}/bytes/1`, 'health.expected_status': '200' });
    const page = await signedIn();
    await goTo(page, 'Subscriptions');
    await page.getByRole('button', { name: 'Add subscription' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Port');
    await page.getByLabel('URL').fill(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/list`);
    await page.getByLabel('Allow a private or local address').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await page
      .getByRole('article', { name: 'Port' })
      .getByRole('link', { name: /^2 nodes/ })
      .click();

    await page.getByRole('button', { name: 'Use Quay' }).click();
    await page.getByText('PROXY uses Quay.').waitFor();
    await page.getByRole('link', { name: 'PROXY → Quay' }).waitFor();
    const row = page.getByRole('row', { name: /Quay/ });
    await row.getByText('In use').waitFor();
    await row.getByText('Port').waitFor();

    await page.getByRole('button', { name: /^Test Quay/ }).click();
    await row.getByText(/\d ms/).waitFor();
    // The result of each is there when it comes, without reading the list again.
    await page.getByLabel('Select all 2').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Test' }).click();
    await page
      .getByRole('row', { name: /Dead end/ })
      .getByText('fails')
      .waitFor();
    expect((await gateway.call<NodePage>('GET', '/proxies?search=Quay')).items[0]!.alive).toBe(true);
    // Another order and a filter stand in the address.
    await page.getByLabel('Health').selectOption({ label: 'Alive' });
    await page.getByLabel('Select Quay').waitFor();
    await page.reload();
    await page.getByLabel('Health').waitFor();
    expect(await page.getByLabel('Health').inputValue()).toBe('true');
    await page.getByLabel('Select all 1').waitFor();
    // A group tests its members in the same way: they show what came without the group being read again.
    await goTo(page, 'Groups');
    await page.getByRole('region', { name: 'Group PROXY' }).getByRole('button', { name: /^All/ }).click();
    const members = page.getByRole('dialog', { name: 'Members of PROXY' });
    await members.getByRole('button', { name: 'Test group' }).click();
    await members.getByRole('button', { name: /Quay.* ms/ }).waitFor();
    await members.getByRole('button', { name: /Dead end.*fails/ }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('deletes a selection, and explains for each remaining node why it stays', async () => {
    const ids: number[] = [];
    for (const name of ['Bulk 1', 'Bulk 2', 'Bulk 3', 'Bulk 4'])
      ids.push(
        (await gateway.call<NodeView>('POST', '/proxies', { raw_config: `socks5://192.0.2.${name.at(-1)}:9`, name }))
          .id,
      );
    const page = await signedIn();
    await goTo(page, 'Nodes');
    await page.getByLabel('Search by name or server').fill('Bulk');
    await page.getByLabel('Select all 4').waitFor();
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Name' }).and(page.locator('[aria-sort=ascending]')).waitFor();
    await page.getByLabel('Select Bulk 1').click();
    await page.getByLabel('Select Bulk 3').click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Disable …' }).click();
    await page.getByRole('button', { name: 'Disable 3 nodes' }).click();
    await page.getByRole('dialog').getByText('3 of 3 done.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    expect((await gateway.call<NodePage>('GET', '/proxies?search=Bulk&enabled=false')).total).toBe(3);

    await page.getByLabel('Select all 4').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Add tags …' }).click();
    await page.getByRole('dialog').getByLabel('Tags').fill('lent, slow');
    await page.getByRole('button', { name: 'Tag 4 nodes' }).click();
    await page.getByRole('dialog').getByText('4 of 4 done.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    expect((await gateway.call<NodePage>('GET', '/proxies?tag=lent')).total).toBe(4);

    // One of them is gone by the time that the others are deleted.
    await page.getByLabel('Select all 4').click();
    await page.getByText('4 selected').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete …' }).click();
    await gateway.call('DELETE', `/proxies/${ids[1]}`);
    await page.getByRole('button', { name: 'Delete 4 nodes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 of 4 done, 1 failed.').waitFor();
    await dialog.getByText(`There is no node ${ids[1]}.`).waitFor();
    expect((await gateway.call<NodePage>('GET', '/proxies?search=Bulk')).total).toBe(0);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('No node matches the filter.').waitFor();
  });

  it('reports that the service does not answer instead of showing empty tables, and recovers', async () => {
    const page = await signedIn();
    await page.context().setOffline(true);
    await goTo(page, 'API keys');
    await page.getByRole('alert').getByText('The service does not answer.').waitFor();
    await page.getByRole('cell', { name: 'The service does not answer.' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('cell', { name: 'The service does not answer.' }).waitFor({ state: 'detached' });
    await page.getByRole('alert').getByText('The service does not answer.').waitFor({ state: 'detached' });
    browser.problems.splice(0);
  });

  it('shows ten thousand nodes but draws only the visible ones', async () => {
    const line = (index: number): string =>
      `socks5://10.${index >> 14}.${(index >> 7) & 127}.${index & 127}:1080#many ${index}`;
    const text = Array.from({ length: 10_000 }, (_, index) => line(index)).join('\n');
    await gateway.call('POST', '/proxies/import', { text });
    const page = await signedIn();
    await goTo(page, 'Nodes');
    await page.getByLabel('Search by name or server').fill('many');
    await page.getByLabel('Select all 10,000').waitFor();
    const table = page.getByRole('table', { name: 'Nodes' });
    await table.getByText('many 0', { exact: true }).waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(60);
    await page.getByRole('region', { name: 'Nodes' }).evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await table.getByText('many 9999', { exact: true }).waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(60);
    await goTo(page, 'Groups');
    await page
      .getByRole('region', { name: 'Group PROXY' })
      .getByRole('button', { name: /^All 10,\d\d\d members$/ })
      .click();
    const members = page.getByRole('dialog');
    await members.getByText(/^10,\d\d\d of 10,\d\d\d$/).waitFor();
    // Only what can be seen is drawn.
    expect(await members.getByRole('listitem').count()).toBeLessThan(60);
    await members.getByPlaceholder('Search members').fill('many 9876');
    await members.getByRole('button', { name: /^many 9876/ }).click();
    await page.getByText('PROXY uses many 9876.').waitFor();
    await members.getByRole('button', { name: /^many 9876/, pressed: true }).waitFor();
    await members.getByPlaceholder('Search members').fill('many 12');
    // The one in use stays in view.
    await members.getByRole('button', { name: /^many 9876/, pressed: true }).waitFor();
  });

  it('lists fifty thousand finished connections, searches them, and scrolls', async () => {
    await addTrafficLogs(gateway.database.url, 49_500);
    const page = await signedIn();
    await goTo(page, 'Traffic log');
    await page.getByText(/^49,\d\d\d entries$/).waitFor();
    await page.getByLabel('Result').selectOption({ label: 'Timed out' });
    const table = page.getByRole('table', { name: 'Traffic log' });
    // The service does not know results: the page reads on until it comes to the oldest entry.
    await table.getByText('oldest.example:443').waitFor({ timeout: 60_000 });
    await page.getByText(/^1 in the newest 49,\d\d\d entries$/).waitFor();
    await page.getByLabel('Result').selectOption({ label: 'All results' });
    const list = page.getByRole('region', { name: 'Traffic log' });
    const frames = await list.evaluate(async (box) => {
      const times: number[] = [];
      for (let step = 0; step <= 60; step += 1) {
        box.scrollTop = (step / 60) * box.scrollHeight;
        times.push(await new Promise((resolve) => requestAnimationFrame(resolve)));
      }
      return times.slice(1).map((time, index) => time - times[index]!);
    });
    await table.getByText('oldest.example:443').waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(60);
    // A frame takes 16.7 ms; ten times that is what a busy machine may need.
    expect(frames.toSorted((one, other) => one - other)[30]).toBeLessThan(167);
    await page.getByLabel('Result').selectOption({ label: 'All problems' });
    await page.reload();
    await page.getByText(/ in the newest /).waitFor();
    expect(await page.getByLabel('Result').inputValue()).toBe('problems');
  });

  it('reads the runtime log on as the reader scrolls, draws only what is in view, and opens a line', async () => {
    await addRuntimeLogs(gateway.database.url, 3_000);
    const page = await signedIn();
    await page.goto(`${gateway.url}/#/logs?search=kept`);
    const table = page.getByRole('table', { name: 'Runtime log' });
    await page.getByText('3,000 lines').waitFor();
    const list = page.getByRole('region', { name: 'Runtime log' });
    await expect
      .poll(
        async () => {
          await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
          return table.getByText('kept line 1', { exact: true }).count();
        },
        { timeout: 60_000 },
      )
      .toBe(1);
    expect(await table.getByRole('row').count()).toBeLessThan(60);
    await table.getByRole('button', { name: 'kept line 1', exact: true }).click();
    await page.getByRole('dialog', { name: 'Log line' }).getByText('number=1').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Level').selectOption('error');
    await page.getByText('Nothing was found.').waitFor();
    await page.reload();
    expect(await page.getByLabel('Level').inputValue()).toBe('error');
  });

  it('shows changes from elsewhere in every tab, over one stream', async () => {
    const page = await signedIn();
    const second = await page.context().newPage();
    const streams: string[] = [];
    for (const tab of [page, second]) {
      tab.on('request', (sent) => sent.url().endsWith('/changes') && streams.push(sent.url()));
    }
    await Promise.all([page, second].map((tab) => tab.goto(`${gateway.url}#/nodes?search=Announced`)));
    await Promise.all([page, second].map((tab) => tab.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor()));
    await Promise.all([page, second].map((tab) => tab.getByText('No node matches').waitFor()));
    await gateway.call('POST', '/proxies', { raw_config: 'socks5://127.0.0.1:9', name: 'Announced' });
    // Without the stream the list is read every 15 seconds. A page that is hidden is not drawn, so each comes to the front.
    for (const tab of [page, second]) {
      await tab.bringToFront();
      await tab.getByRole('row', { name: /Announced/ }).waitFor({ timeout: 10_000 });
    }
    expect(streams.length).toBeLessThanOrEqual(1);
  });

  it('asks for the password again when the session has ended', async () => {
    const page = await signedIn();
    await page.evaluate(() => sessionStorage.setItem(sessionStorage.key(0)!, 'no-token'));
    await page.reload();
    await page.getByText('The session has ended.').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
  });
});

describe('the login', { timeout: 90_000 }, () => {
  it('keeps language and theme of the administrator for other browsers', async () => {
    try {
      const first = await signedIn();
      await first.getByLabel('Theme').selectOption('dark');
      await first.getByLabel('Language').selectOption('zh-CN');
      await first.getByRole('heading', { name: '概览', level: 1 }).waitFor();

      const second = await browser.open(gateway.url);
      await signIn(second);
      await second.getByRole('heading', { name: '概览', level: 1 }).waitFor();
      expect(await second.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    } finally {
      await gateway.call('PUT', '/auth/preferences', { language: null, theme: null });
    }
  });

  it('says how long to wait after too many wrong passwords, and is absent if login is off', async () => {
    await using own = await RunningProxyGateway.start();
    const page = await browser.open(own.url);
    for (let attempt = 1; attempt <= 5; attempt++) {
      await signIn(page, 'wrong');
      await page.getByText('The password is wrong').waitFor();
      await page.getByRole('button', { name: 'Sign in', disabled: false }).waitFor();
      await page.getByLabel('Administrator password').fill('');
    }
    await signIn(page, 'wrong');
    await page.getByText(/Try again in \d+ min/).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in' }).isDisabled()).toBe(true);

    await own.call('PUT', '/settings', { 'auth.enabled': 'false' });
    await page.reload();
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
    await page.getByText('Login is off').waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
    // A page that stays open would go on asking the gateway that ends here.
    await browser.closePages();
  });
});
