import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createServiceApp, JsonLogger, loadSettings, ServiceSettings } from '@gatehouse/platform';
import { findPeer } from '@gatehouse/testing';
import type { INestApplication } from '@nestjs/common';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFindings } from '../support/axe.js';
import { TestBrowser } from '../support/browser.js';
import { requirePeer } from '../support/peers.js';

const SITE = fileURLToPath(new URL('../../apps/console/dist/site', import.meta.url));
const HELP = fileURLToPath(new URL('../../apps/console/dist/help', import.meta.url));
/** Pages of every kind; decisions and benchmarks look like each other. */
const LOOKED_AT = [
  '',
  'operations.html',
  'benchmarks.html',
  'decisions/index.html',
  'decisions/0004-peers-unpacked.html',
];

class EmptyModule {}

let app: INestApplication;
let browser: TestBrowser;
let url: string;

beforeAll(async () => {
  app = await createServiceApp({
    name: 'help',
    module: EmptyModule,
    settings: loadSettings(ServiceSettings, { DATABASE_URL: 'postgres://localhost/none' }),
    logger: new JsonLogger({ service: 'help', level: 'error', write: () => undefined }),
    http: { errorFormat: 'problem', console: { folder: SITE } },
  });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
  const chromium = findPeer('chromium');
  if (chromium !== undefined) browser = await TestBrowser.start(chromium); // else each test says so
}, 60_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await app?.close();
});

beforeEach((context) => requirePeer(context, 'chromium'));
afterEach(() => expect(browser?.problems.splice(0) ?? []).toEqual([]));

function open(address: string, options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
  return browser.open(`${url}/`, options).then(async (page) => {
    await page.goto(`${url}/help/${address}`);
    return page;
  });
}

describe('the documentation in a browser', () => {
  it.each([
    { width: 1280, colorScheme: 'light', locale: 'en' },
    { width: 390, colorScheme: 'dark', locale: 'zh-CN' },
  ] as const)(
    'fits the screen and is accessible: $width px, $colorScheme, $locale',
    async ({ width, colorScheme, locale }) => {
      const page = await open('', { viewport: { width, height: 844 }, colorScheme, locale });
      for (const address of LOOKED_AT) {
        await page.goto(`${url}/help/${address}`);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), address).toBeLessThanOrEqual(
          0,
        );
        expect(await page.evaluate('document.querySelector(".top").offsetHeight'), address).toBeLessThanOrEqual(64);
        expect(await axeFindings(page), address).toEqual([]);
      }
    },
  );

  it('has no broken internal link', async () => {
    const page = await open('');
    const names = readdirSync(HELP, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
    expect(names.length).toBeGreaterThan(100);
    const broken: string[] = await page.evaluate(`(async () => {
      const pages = new Map();
      const read = async (address) => {
        if (!pages.has(address)) {
          const answer = await fetch(address);
          const isPage = answer.ok && answer.headers.get('content-type').startsWith('text/html');
          const ids = isPage ? [...(await answer.text()).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id) : [];
          pages.set(address, { ok: answer.ok, ids: new Set(ids) });
        }
        return pages.get(address);
      };
      const broken = [];
      for (const name of ${JSON.stringify(names)}) {
        const base = new URL('/help/' + name, location.origin);
        const text = await (await fetch(base)).text();
        for (const [, raw] of text.matchAll(/<a href="([^"]+)"/g)) {
          const target = new URL(raw.replaceAll('&amp;', '&'), base);
          if (target.origin !== location.origin || !target.pathname.startsWith('/help/')) continue;
          const { ok, ids } = await read(target.pathname);
          const anchor = decodeURIComponent(target.hash.slice(1));
          if (!ok || (anchor !== '' && !ids.has(anchor))) broken.push(name + ' -> ' + raw);
        }
      }
      return broken;
    })()`);
    expect(broken).toEqual([]);
  });

  it('finds words, and opens the part of the page with the keyboard alone', async () => {
    const page = await open('decisions/index.html');
    await page.locator('body').press('/');
    await page.keyboard.type('rotate secret key');
    await page.locator('.results a').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/help\/(?!decisions\/index)/);
    expect(await page.title()).toContain('Gatehouse');
    await page.getByRole('searchbox').fill('xyzzyplugh');
    await page.getByText('Nothing found').waitFor();
  });

  it('finds Chinese words within sentences', async () => {
    const page = await open('', { locale: 'zh-CN' });
    expect(page.url()).toBe(`${url}/help/zh-CN/`);
    await page.getByRole('searchbox').fill('订阅');
    await page.locator('.results a').first().waitFor();
    expect(await page.locator('.results').innerText()).toContain('订阅');
  });

  it('keeps the page when the language changes, and remembers language and theme', async () => {
    const page = await open('first-steps.html');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.waitForURL('**/help/zh-CN/first-steps.html');
    await page.getByLabel('主题').selectOption('dark');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await page.goto(`${url}/help/`);
    expect(page.url()).toBe(`${url}/help/zh-CN/`);
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    expect(await page.locator('.pages a[hreflang=en]').first().innerText()).toContain('（英文）');
  });

  it('opens its list of pages on a phone', async () => {
    const page = await open('', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  });
});
