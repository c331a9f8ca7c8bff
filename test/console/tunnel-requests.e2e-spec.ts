import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findPeer, waitFor } from '@gatehouse/testing';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFindings } from '../support/axe.js';
import { TestBrowser, untilDrawn } from '../support/browser.js';
import { apiNamesIn, englishIn, goTo, signedInAt } from '../support/console-pages.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { RunningTunnelGateway, type GatewayJson } from '../support/tunnel-gateway.js';

const PEERS = ['chromium'];
const NAME = 'seen.test';
const VIEWS = [
  { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { viewport: { width: 390, height: 800 }, colorScheme: 'dark' },
] as const;

let gateway: RunningTunnelGateway;
let browser: TestBrowser;
let host: GatewayJson;
const asked: string[] = [];
const origin = createServer((question, answer) => {
  asked.push(`${question.method} ${question.url}`);
  answer.setHeader('content-type', 'application/json').end('{"name":"ann","token":"s3cret"}');
});

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  await Promise.all([
    RunningTunnelGateway.start().then((started) => (gateway = started)),
    TestBrowser.start(findPeer('chromium')!).then((started) => (browser = started)),
    once(origin.listen(0, '127.0.0.1'), 'listening'),
  ]);
  host = await gateway.call('POST', '/hosts', {
    client_id: await gateway.clientWithAgent(),
    host: NAME,
    target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
  });
  await waitFor(async () => (await visit('/')) === 200);
}, 180_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  origin.close();
});

beforeEach((context) => {
  for (const name of PEERS) requirePeer(context, name);
});

afterEach(async () => {
  await browser?.closePages();
  expect(browser?.problems.splice(0) ?? []).toEqual([]);
});

async function visit(path: string, more: Record<string, string> = {}): Promise<number> {
  const headers = { host: NAME, ...more };
  const sent = request({ host: '127.0.0.1', port: gateway.ports.http, path, headers, agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode ?? 0;
}

function signedIn(options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
  return signedInAt(browser, gateway.url, { username: 'admin', password: gateway.password }, options);
}

/** From the list of hosts, as people come. */
async function openRequests(page: Page): Promise<void> {
  await goTo(page, 'Hosts');
  await page.getByRole('link', { name: `Requests of ${NAME}` }).click();
  await page.getByRole('heading', { name: `Requests of ${NAME}`, level: 1 }).waitFor();
}

describe('the requests of a host in the console', { timeout: 90_000 }, () => {
  it('appear as they come, once the owner wants them, with heads and bodies without secrets', async () => {
    const page = await signedIn(VIEWS[0]);
    await openRequests(page);
    await page.getByText('Requests of this host are not kept.').waitFor();
    await page.getByLabel('What is kept').selectOption({ label: 'Also headers and the beginning of bodies' });
    await page.getByText('No request yet.').waitFor();
    await waitFor(async () => {
      await visit('/orders?page=2&token=s3cret', { authorization: 'Bearer s3cret', 'x-team': "it's" });
      return (await page.getByRole('button', { name: 'GET /orders?page=2&token=***' }).count()) > 0;
    });
    await page.getByRole('button', { name: 'GET /orders?page=2&token=***' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'GET /orders?page=2&token=***' });
    await dialog.getByLabel('Request: headers').getByText('authorization: Bearer ***').waitFor();
    expect(await dialog.getByLabel('Response: body').innerText()).toBe('{"name":"ann","token":"***"}');
    expect(await dialog.innerText()).not.toContain('s3cret');

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: gateway.url });
    await dialog.getByRole('button', { name: 'Copy curl command' }).click();
    const copied = await waitFor(() => page.evaluate(() => navigator.clipboard.readText()));
    expect(copied).toMatch(new RegExp(`^curl .*'http://${NAME}/orders\\?page=2&token=\\*\\*\\*'`));
    expect(copied).toContain(String.raw`--header 'x-team: it'\''s'`);
    for (const { viewport, colorScheme } of VIEWS) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await untilDrawn(page);
      expect(await axeFindings(page), `${viewport.width} pixels wide`).toEqual([]);
    }
  });

  it('are narrowed, and saved as HAR', async () => {
    await gateway.call('PATCH', `/hosts/${host.id}`, { record_requests: 'full' });
    const page = await signedIn(VIEWS[0]);
    await openRequests(page);
    await waitFor(async () => {
      await visit('/first');
      await visit('/second');
      return (await page.getByRole('button', { name: 'GET /second' }).count()) > 0;
    });
    await page.getByLabel('Search in paths').fill('first');
    await page.getByRole('button', { name: 'GET /second' }).first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'GET /first' }).first().waitFor();
    for (const { viewport, colorScheme } of VIEWS) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await untilDrawn(page);
      expect(await axeFindings(page), `${viewport.width} pixels wide`).toEqual([]);
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(excess, `${viewport.width} pixels wide`).toBeLessThanOrEqual(0);
    }
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as HAR' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`host-${host.id}.har`);
    const { log } = JSON.parse(readFileSync(await file.path(), 'utf8'));
    expect(new Set(log.entries.map((entry: GatewayJson) => new URL(entry.request.url).pathname))).toEqual(
      new Set(['/first']),
    );
  });

  it('are sent again, with what was masked given by the reader', async () => {
    await gateway.call('PATCH', `/hosts/${host.id}`, { record_requests: 'full' });
    const page = await signedIn(VIEWS[0]);
    await openRequests(page);
    await waitFor(async () => {
      await visit('/hook?token=s3cret', { authorization: 'Bearer s3cret' });
      return (await page.getByRole('button', { name: 'GET /hook?token=***' }).count()) > 0;
    });
    await page.getByRole('button', { name: 'GET /hook?token=***' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'GET /hook?token=***' });
    await dialog.getByText('Replay …').click();
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
    await dialog.getByText('A secret in the path was masked: set path').waitFor();
    await dialog.getByLabel('Path and query').fill('/hook?token=again');
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('The request was sent again, without authorization.').waitFor();
    await page.getByRole('button', { name: 'GET /hook?token=*** replay' }).first().waitFor();
    expect(asked.at(-1)).toBe('GET /hook?token=again');
  });

  it('are in Chinese for Chinese readers', async () => {
    await gateway.call('PATCH', `/hosts/${host.id}`, { record_requests: 'full' });
    await waitFor(async () => {
      await visit('/');
      return (await gateway.call('GET', `/hosts/${host.id}/requests`)).items.length > 0;
    });
    const page = await browser.open(gateway.url, { locale: 'zh-CN' });
    await page.getByLabel('用户名').fill('admin');
    await page.getByLabel('密码', { exact: true }).fill(gateway.password);
    await page.getByRole('button', { name: '登录', exact: true }).click();
    await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    await page.evaluate((id) => (location.hash = `#/requests?host=${id}`), host.id);
    await page.getByRole('heading', { name: `${NAME} 的请求`, level: 1 }).waitFor();
    await page.getByRole('button', { name: 'GET /' }).first().click();
    await page.getByLabel('响应：正文').waitFor();
    expect(await englishIn(page)).toEqual([]);
    expect(await apiNamesIn(page)).toEqual([]);
  });

  it('are there for viewers, who choose nothing', async () => {
    const { id } = await gateway.call('POST', '/users', {
      username: 'vic',
      role: 'viewer',
      password: 'a long password',
    });
    const { items } = await gateway.call('GET', '/clients');
    await gateway.call('PATCH', `/clients/${items[0].id}`, { owner_user_id: id });
    await gateway.call('PATCH', `/hosts/${host.id}`, { record_requests: 'requests' });
    const page = await signedInAt(browser, gateway.url, { username: 'vic', password: 'a long password' }, VIEWS[0]);
    await openRequests(page);
    await page.getByText('A line for each request').waitFor();
    expect(await page.getByLabel('What is kept').count()).toBe(0);
    await waitFor(async () => {
      await visit('/line');
      return (await page.getByRole('button', { name: 'GET /line' }).count()) > 0;
    });
    await page.getByRole('button', { name: 'GET /line' }).first().click();
    await page.getByRole('dialog').getByText('Headers and bodies are not kept.').waitFor();
  });
});
