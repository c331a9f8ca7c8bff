import { findPeer } from '@gatehouse/testing';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleVisit, type App } from '../../tools/src/screens/console-visit.js';
import { inspectPage } from '../../tools/src/screens/inspect-page.js';
import { lookAround } from '../../tools/src/screens/look-around.js';
import { answerWrites } from '../../tools/src/screens/sample-answers.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { RunningProxyGateway } from '../support/proxy-gateway.js';

let gateway: RunningProxyGateway;
let browser: Browser;
let app: App;

beforeAll(async () => {
  if (!havePeers(['chromium'])) return; // each test says so itself
  gateway = await RunningProxyGateway.start();
  app = { name: 'proxy', url: gateway.url };
  browser = await chromium.launch({ executablePath: findPeer('chromium')!, args: ['--no-sandbox'], timeout: 60_000 });
}, 90_000);
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
});
beforeEach((context) => requirePeer(context, 'chromium'));

const visitIn = (language: 'en' | 'zh-CN'): Promise<ConsoleVisit> =>
  ConsoleVisit.open(browser, app, { width: 1280, theme: 'light', language });

describe('npm run screens', { timeout: 90_000 }, () => {
  it('opens the dialogs of a page and sends their forms, and changes nothing', async () => {
    await gateway.call('POST', '/api-keys', { name: 'kept', scopes: ['read'] });
    await using visit = await visitIn('en');
    await visit.signIn(gateway.password);
    await answerWrites(visit.page);
    const seen: string[] = [];
    await lookAround(visit, `${gateway.url}/#/keys`, async (name) => void seen.push(name));
    expect(seen).toEqual(['', 'New API key', 'Key kept-1', 'Revoke this key?']);
    expect(visit.problems).toEqual([]);
    const { items } = await gateway.call<{ items: { name: string }[] }>('GET', '/api-keys');
    expect(items.map(({ name }) => name)).toEqual(['kept']);
  });

  it('finds pages that are too wide, move, cannot be read, or are still in English', async () => {
    await using visit = await visitIn('zh-CN');
    await visit.page.setContent(`<html lang="zh-CN"><title>t</title><main><h1>Not translated at all</h1>
      <div style="width: 2000px">宽</div><img src="data:," width="9" height="9"></main></html>`);
    const found = (await inspectPage(visit.page, 'zh-CN')).join('\n');
    expect(found).toMatch(/is \d+ px wider than the screen/);
    expect(found).toContain('is in English: Not translated at all');
    expect(found).toContain('image-alt (critical)');
    await visit.page.setContent('<html lang="zh-CN"><title>t</title><main><h1>标题</h1></main></html>');
    expect(await inspectPage(visit.page, 'zh-CN')).toEqual([]);
  });
});
