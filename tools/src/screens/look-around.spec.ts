import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findPeer } from '@gatehouse/testing';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleVisit } from './console-visit.js';
import { inspectPage } from './inspect-page.js';
import { lookAround } from './look-around.js';
import { answerWrites } from './sample-answers.js';

/** A page as the consoles have them: two buttons open dialogs, the form of one leads to a second. */
const PAGE = `<!doctype html><html lang="en"><title>Keys</title><main><h1>Keys</h1>
<button type="button" data-opens="New key">Add</button>
<p><a href="/more">More</a> <a href="/api/export">Everything as a file</a></p>
<table><tr><td><button type="button" class="small" data-opens="Revoke it?">Revoke</button></td></tr>
<tr><td><button type="button" class="small" data-opens="Revoke it?">Revoke</button></td></tr></table></main>
<script>
function open(title, body) {
  document.querySelector('dialog')?.remove();
  document.querySelector('main').insertAdjacentHTML('beforeend', '<dialog><h2>' + title + '</h2>' + body + '</dialog>');
  document.querySelector('dialog').showModal();
  document.querySelector('form')?.addEventListener('submit', send);
}
async function send(event) {
  event.preventDefault();
  const answer = await fetch('/api/v1/api-keys', { method: 'POST', body: '{}' });
  const { name, key } = await answer.json();
  open('Key ' + name, '<p class="secret">' + key + '</p>');
}
for (const button of document.querySelectorAll('[data-opens]'))
  button.onclick = () => open(button.dataset.opens, button.dataset.opens === 'New key'
    ? '<form><label>Name <input required></label><button type="submit">Create</button></form>' : '<p>Sure?</p>');
</script></html>`;

let server: Server;
let browser: Browser;
let url: string;
const writes: string[] = [];

beforeAll(async () => {
  const executablePath = findPeer('chromium');
  if (executablePath === undefined) return; // each test says so itself
  server = createServer((request, response) => {
    if (request.method !== 'GET') writes.push(`${request.method} ${request.url}`);
    const isApi = request.url?.startsWith('/api/') === true;
    response.setHeader('content-type', isApi ? 'application/json' : 'text/html; charset=utf-8');
    response.end(isApi ? '{"items":[{"id":7,"name":"kept"}]}' : PAGE);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 60_000 });
}, 90_000);
afterAll(async () => {
  await browser?.close();
  server?.close();
});
beforeEach((context) => {
  if (!findPeer('chromium')) context.skip('chromium is not here: npm run peers');
});

const visitIn = (language: 'en' | 'zh-CN'): Promise<ConsoleVisit> =>
  ConsoleVisit.open(browser, { name: 'proxy', url }, { width: 1280, theme: 'light', language });

describe('npm run screens', { timeout: 180_000 }, () => {
  it('opens the dialogs of a page, one of each kind, and sends their forms, and changes nothing', async () => {
    await using visit = await visitIn('en');
    await answerWrites(visit.page);
    const seen: string[] = [];
    await lookAround(visit, `${url}/`, async (name) => void seen.push(name));
    expect(seen).toEqual(['', 'New key', 'Key kept-1', 'Revoke it?']);
    expect(visit.problems).toEqual([]);
    expect(writes).toEqual([]);
  });

  it('goes on to other pages, and not to files and documents for programs', async () => {
    await using visit = await visitIn('en');
    await visit.goTo(`${url}/`);
    expect(await visit.addresses('content')).toEqual([`${url}/more`]);
  });

  it('finds pages that are too wide, cannot be read, or are still in English', async () => {
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
