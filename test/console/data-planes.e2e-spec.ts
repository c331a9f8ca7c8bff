import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { findPeer, waitFor } from '@gatehouse/testing';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFindings } from '../support/axe.js';
import { TestBrowser } from '../support/browser.js';
import { englishIn, goTo, signedInAt, type Login } from '../support/console-pages.js';
import { KernelYard } from '../support/kernel-yard.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { SeparateEdge } from '../support/separate-edge.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const PEERS = ['chromium'];
const BOTH = [1, 2];
/** Two programs start on a busy machine. */
const START_MS = 300_000;
const PHONE = { width: 390, height: 844 };

let browser: TestBrowser;

beforeAll(async () => {
  if (havePeers(PEERS)) browser = await TestBrowser.start(findPeer('chromium')!);
}, START_MS);

afterAll(() => browser?.[Symbol.asyncDispose]());

beforeEach((context) => {
  for (const name of PEERS) requirePeer(context, name);
});

afterEach(async () => {
  await browser?.closePages();
  expect(browser?.problems.splice(0) ?? []).toEqual([]);
});

/** Neither findings of axe nor anything wider than the screen; the last column of a table is in sight, too. */
async function expectSound(page: Page): Promise<void> {
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  const hidden = await page
    .locator('main .table')
    .evaluateAll((boxes) => boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
  expect(Math.max(0, ...hidden)).toBe(0);
}

/** Drains the second one, and lets it serve again. `meanwhile` runs while it is drained. */
async function drainAndServe(page: Page, name: string, meanwhile: (row: Locator) => Promise<void>): Promise<void> {
  const row = page.getByRole('row', { name: new RegExp(name) });
  await row.getByRole('button', { name: `Drain ${name}` }).click();
  const dialog = page.getByRole('dialog', { name: /^Drain the (?:edge|kernel)\?$/ });
  await dialog.getByText(`${name} accepts no new`).waitFor();
  await expectSound(page);
  await dialog.getByRole('button', { name: 'Drain' }).click();
  await page.getByText(`${name} is being drained.`).waitFor();
  await row.getByText(/^drain(?:ing|ed)$/).waitFor();
  await meanwhile(row);
  await row.getByRole('button', { name: `Let ${name} serve again` }).click();
  await page.getByText(`${name} serves again.`).waitFor();
  await row.getByText('serving', { exact: true }).waitFor();
  await row.getByRole('button', { name: `Drain ${name}` }).waitFor();
}

/** The page on a phone, in Chinese and dark. */
async function openOnPhone(url: string, { username, password }: Login, path: string): Promise<Page> {
  const page = await browser.open(url, { viewport: PHONE, locale: 'zh-CN', colorScheme: 'dark' });
  if (username !== undefined) await page.getByLabel('用户名').fill(username);
  await page.getByLabel(username === undefined ? '管理员密码' : '密码', { exact: true }).fill(password);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
  await page.goto(`${url}/#/${path}`);
  return page;
}

describe('two edges of the tunnel gateway', { timeout: 120_000 }, () => {
  let gateway: RunningTunnelGateway;
  let second: SeparateEdge;

  beforeAll(async () => {
    if (!havePeers(PEERS)) return;
    gateway = await RunningTunnelGateway.start('password', {
      GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
      TUNNEL_EDGE_NAME: 'harbour',
    });
    second = await SeparateEdge.start('lighthouse', gateway.environment);
  }, START_MS);

  afterAll(async () => {
    await second?.[Symbol.asyncDispose]();
    await gateway?.[Symbol.asyncDispose]();
  });

  const login = (): Login => ({ username: 'admin', password: gateway.password });

  it('are listed with version, addresses and load; one is drained and serves again', async () => {
    const page = await signedInAt(browser, gateway.url, login());
    await goTo(page, 'Edges');
    const row = (name: string): Locator => page.getByRole('row', { name: new RegExp(name) });
    for (const name of ['harbour', 'lighthouse']) {
      await row(name).getByText('serving', { exact: true }).waitFor();
      await row(name).getByText('up to date', { exact: true }).waitFor();
      expect(await row(name).getByRole('cell').first().innerText()).toMatch(/\d+\.\d+\.\d+/);
      expect(
        await row(name)
          .getByText(/^\d+(?:\.\d)?\s?%$/)
          .count(),
      ).toBe(1);
    }
    await row('lighthouse').getByText(`lighthouse.example.org:${second.agents}`, { exact: true }).waitFor();
    await expectSound(page);
    await drainAndServe(page, 'lighthouse', async () => {
      await waitFor(async () => (await opens(second.agents)) === false);
      await row('harbour').getByRole('button', { name: 'Drain harbour' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
      await page.getByText('No other edge serves').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await row('harbour').getByText('serving', { exact: true }).waitFor();
    });
    await waitFor(() => opens(second.agents));
  });

  it('are cards on a phone, in Chinese', async () => {
    const page = await openOnPhone(gateway.url, login(), 'edges');
    await page.getByText('lighthouse', { exact: true }).waitFor();
    expect(await page.getByText('服务中', { exact: true }).count()).toBe(2);
    await expectSound(page);
    expect(await englishIn(page)).toEqual([]);
    await page.getByRole('button', { name: '排空 lighthouse' }).click();
    await page.getByRole('dialog', { name: '排空此 edge？' }).waitFor();
    await expectSound(page);
  });
});

describe('two kernels of the proxy gateway', { timeout: 120_000 }, () => {
  let yard: KernelYard;

  beforeAll(async () => {
    if (!havePeers(PEERS)) return;
    yard = await KernelYard.open(2);
    await Promise.all(BOTH.map((number) => yard.startKernel(number)));
    await yard.startService(1, BOTH);
    await yard.untilCurrent(1, 2);
  }, START_MS);

  afterAll(() => yard?.[Symbol.asyncDispose]());

  const login = (): Login => ({ password: yard.password });

  it('are listed with version, addresses and load; one is drained and serves again', async () => {
    const page = await signedInAt(browser, yard.root(1), login());
    await goTo(page, 'Kernels');
    for (const kernel of BOTH) {
      const row = page.getByRole('row', { name: new RegExp(`kernel-${kernel}`) });
      await row.getByText('serving', { exact: true }).waitFor();
      await row.getByText('up to date', { exact: true }).waitFor();
      await row.getByText(`kernel-${kernel}.example:${yard.proxyPort}`, { exact: true }).waitFor();
      expect(await row.getByRole('cell').first().innerText()).toMatch(/\d+\.\d+\.\d+/);
      await row.getByText(/\sMiB$/).waitFor();
    }
    await expectSound(page);
    const isOpen = (kernel: number): Promise<boolean> => opens(yard.proxyPort, yard.address(kernel));
    await drainAndServe(page, 'kernel-2', async () => {
      await waitFor(async () => (await isOpen(2)) === false);
      expect(await isOpen(1)).toBe(true);
      await page
        .getByRole('row', { name: /kernel-1/ })
        .getByText('serving', { exact: true })
        .waitFor();
    });
    await waitFor(() => isOpen(2));
  });

  it('are cards on a phone, in Chinese', async () => {
    const page = await openOnPhone(yard.root(1), login(), 'kernels');
    await page.getByText('kernel-2', { exact: true }).waitFor();
    expect(await page.getByText('服务中', { exact: true }).count()).toBe(2);
    await expectSound(page);
    expect(await englishIn(page)).toEqual([]);
    await page.getByRole('button', { name: '排空 kernel-2' }).click();
    await page.getByRole('dialog', { name: '排空此内核？' }).waitFor();
    await expectSound(page);
  });
});

/** Whether something accepts connections there. */
function opens(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
      .on('error', () => resolve(false))
      .on('connect', () => {
        socket.destroy();
        resolve(true);
      });
  });
}
