import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { findPeer, startHttpOrigin, type HttpOrigin } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestBrowser } from '../support/browser.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { Journey, VIEWS, type View } from './journey.js';

const PEERS = ['chromium', 'microsocks'];
/** Names of nodes as providers give them; all of them lead to this machine. */
const PLACES = [
  '🇭🇰 Hong Kong',
  '🇯🇵 Tokyo',
  '🇸🇬 Singapore',
  '🇺🇸 Los Angeles',
  '🇩🇪 Frankfurt',
  '🇬🇧 London',
  '🇫🇷 Paris',
  '🇳🇱 Amsterdam',
];
const CHOSEN = 'Tokyo';

const programs = new Programs();
let gateway: RunningProxyGateway;
let browser: TestBrowser;
let origin: HttpOrigin;
let provider: Server;
let port: string;

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  gateway = await RunningProxyGateway.start();
  browser = await TestBrowser.start(findPeer('chromium')!);
  origin = await startHttpOrigin();
  port = new URL(origin.url).port;
  await gateway.call('PUT', '/settings', { 'health.url': `${origin.url}/bytes/1`, 'health.expected_status': '200' });
  const socks = await programs.start(findPeer('microsocks')!, (free) => ['-i', '0.0.0.0', '-p', String(free)]);
  provider = createServer((request, response) => {
    const network = request.url === '/en' ? 1 : 2;
    const lines = PLACES.map((place, at) => `socks5://127.0.${network}.${at + 1}:${socks}#${place} 0${network}`);
    response.end(lines.join('\n'));
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
}, 90_000);

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
  expect(browser?.problems.splice(0) ?? []).toEqual([]);
  await gateway?.call('DELETE', '/connections'); // those of a journey that failed would stand in the next one's way
});

const atDashboard = (view: View): Promise<Journey> =>
  Journey.signedIn(browser, gateway.url, 'proxy', { view, password: gateway.password });

/** A connection through the kernel, as of a program that uses the proxy. */
async function openConnection(): Promise<{ closed: Promise<unknown> }> {
  const path = `localhost:${port}`;
  const asked = request({ host: '127.0.0.1', port: await gateway.proxyPort(), method: 'CONNECT', path, agent: false });
  const [answer, socket] = (await once(asked.end(), 'connect')) as [IncomingMessage, Socket];
  expect(answer.statusCode).toBe(200);
  const closed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  socket.resume().write(`GET /bytes/1000 HTTP/1.1\r\nHost: ${path}\r\n\r\n`);
  return { closed };
}

describe.each(VIEWS)('at $width px, $colorScheme, $language', { timeout: 60_000 }, (view) => {
  const number = view.language === 'en' ? '01' : '02';
  const name = `Provider ${number}`;
  const node = `🇯🇵 ${CHOSEN} ${number}`;

  it('goes from a subscription to traffic', async () => {
    await using journey = await atDashboard(view);
    const { page } = journey;
    await journey.goTo('Subscriptions');
    await journey.press('button', 'Add subscription');
    await journey.fill('Name', name);
    await journey.fill('URL', `http://127.0.0.1:${(provider.address() as AddressInfo).port}/${view.language}`);
    // Only this test's provider is on the same machine.
    await journey.field('Allow a private or local address').check();
    await journey.press('button', 'Add', page.getByRole('dialog'));
    await journey.click(page.getByRole('article', { name }).getByRole('link', { name: /^8 / }));
    await journey.click(page.getByRole('button', { name: journey.label('Use {name}', { name: node }) }).first());
    await page.getByRole('link', { name: new RegExp(`PROXY → .*${CHOSEN} ${number}`) }).waitFor();
    // Delays are no part of the journey, but of the picture.
    await page.getByLabel(journey.label('Select all {count, number}')).check();
    await journey.find('button', 'Test', page.getByRole('toolbar')).click();
    for (const place of PLACES) {
      await page
        .getByRole('row', { name: new RegExp(`${place.slice(5)} ${number}`) })
        .getByText(/\d ms/)
        .waitFor();
    }
    await page.getByLabel(journey.label('Select all {count, number}')).uncheck();
    await journey.picture('proxy-nodes');
    await openConnection();
    await journey.goTo('Connections');
    const row = page.getByRole('row', { name: new RegExp(`localhost:${port}`) });
    await row.getByText(new RegExp(`→ .*${CHOSEN} ${number}`)).waitFor();
    await journey.end('Subscription to traffic');
  });

  it('shows why a connection goes through its node', async () => {
    const rule = await gateway.call<{ id: number }>('POST', '/rules', { raw: 'DOMAIN,localhost,PROXY' });
    await using journey = await atDashboard(view);
    await openConnection();
    await journey.goTo('Connections');
    const row = journey.page.getByRole('row', { name: new RegExp(`localhost:${port}`) });
    await journey.click(row.getByRole('button', { name: journey.label('Details of {host}') }).first());
    const detail = journey.page.getByRole('dialog');
    await detail.getByRole('link', { name: new RegExp(`${CHOSEN} ${number}`) }).waitFor();
    await journey.picture('proxy-connection');
    await journey.click(detail.getByRole('link', { name: 'DOMAIN,localhost' }));
    await journey.page
      .getByRole('row', { name: /DOMAIN.*localhost.*PROXY/s })
      .first()
      .waitFor();
    await journey.end('Why this node');
    await gateway.call('DELETE', `/rules/${rule.id}`);
  });

  it('closes a connection and turns it into a rule', async () => {
    await using journey = await atDashboard(view);
    const { page } = journey;
    const connection = await openConnection();
    await journey.goTo('Connections');
    const row = page.getByRole('row', { name: new RegExp(`localhost:${port}`) });
    await journey.click(row.getByRole('button', { name: journey.label('Details of {host}') }).first());
    await journey.press('button', 'Add rule …', page.getByRole('dialog'));
    const form = journey.find('dialog', 'Add a rule');
    await form.getByRole('button', { name: 'DOMAIN localhost', pressed: true }).waitFor();
    await journey.fill('Target', 'REJECT', form);
    await journey.press('button', 'Save', form);
    await form.waitFor({ state: 'detached' });
    await journey.press('button', 'Close the connection to {host}', row);
    await connection.closed;
    await journey.end('Close a connection and make a rule of it');
    const { items } = await gateway.call<{ items: { id: number; payload: string }[] }>(
      'GET',
      '/rules?search=localhost',
    );
    expect(items).toHaveLength(1);
    await gateway.call('DELETE', `/rules/${items[0]!.id}`);
  });

  it('signs in', async () => {
    await using journey = await Journey.start(browser, gateway.url, 'proxy', view);
    await journey.signIn(gateway);
    await journey.atFirstPage();
    await journey.end('Sign in: proxy console');
  });
});
