import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { withClient } from '@gatehouse/persistence';
import { findPeer, reservePort, reservePorts, startTcpEcho, type TcpEcho, waitFor } from '@gatehouse/testing';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFindings } from '../support/axe.js';
import { TestBrowser, untilDrawn } from '../support/browser.js';
import { apiNamesIn, englishIn, expectLoading, fillLogin, goTo, signedInAt } from '../support/console-pages.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { PathProxy } from '../support/path-proxy.js';
import { CERTIFICATE, PRIVATE_KEY } from '../support/tls-identity.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const PEERS = ['chromium'];
/** Of the programs, on a busy machine. */
const START_MS = 180_000;
const OTHER_PASSWORD = 'another long password';
const OWN_PAGES = [
  'Clients',
  'Tunnels',
  'Hosts',
  'Domains',
  'Certificates',
  'IP rules',
  'Access',
  'Traffic',
  'Events',
  'Webhooks',
];
const ACCOUNT_PAGES = ['Sessions', 'API keys', 'Account', 'Dashboard'];
const ADMIN_PAGES = ['Users', 'Audit log', 'Import and export'];
const VIEWS = [
  { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { viewport: { width: 390, height: 800 }, colorScheme: 'dark' },
] as const;

let gateway: RunningTunnelGateway;
let browser: TestBrowser;
let echo: TcpEcho;
let folder: string;
const agents: ChildProcess[] = [];

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  await Promise.all([
    RunningTunnelGateway.start().then((started) => (gateway = started)),
    TestBrowser.start(findPeer('chromium')!).then((started) => (browser = started)),
  ]);
  echo = await startTcpEcho();
  folder = mkdtempSync(path.join(os.tmpdir(), 'tunnel console '));
}, START_MS);

afterAll(async () => {
  for (const agent of agents) {
    agent.kill('SIGTERM');
    if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit');
  }
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await echo?.close();
  if (folder) rmSync(folder, { recursive: true });
});

beforeEach((context) => {
  for (const name of PEERS) requirePeer(context, name);
});

afterEach(async () => {
  await browser?.closePages();
  expect(browser?.problems.splice(0) ?? []).toEqual([]);
});

function signedIn(
  { username = 'admin', password = gateway.password } = {},
  options: Parameters<TestBrowser['open']>[1] = {},
): Promise<Page> {
  return signedInAt(browser, gateway.url, { username, password }, options);
}

/** Runs the agent as the console says it: fetched from the console, with its command. */
async function runAgent(page: Page): Promise<void> {
  const [download = '', keeping = '', command = ''] = await page
    .getByRole('dialog')
    .locator('.secret code')
    .allInnerTexts();
  expect(download).toBe(`curl -fO ${gateway.url}/gatehouse-agent.mjs`);
  const file = path.join(folder, 'gatehouse-agent.mjs');
  const answer = await fetch(download.replace('curl -fO ', ''));
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  const [program, name, ...args] = command.split(' ');
  expect([program, name]).toEqual(['node', 'gatehouse-agent.mjs']);
  expect(command).not.toMatch(/--key /);
  execFileSync('/bin/sh', ['-c', keeping], { cwd: folder });
  expect(statSync(path.join(folder, 'agent.key')).mode & 0o777).toBe(0o600);
  agents.push(spawn(process.execPath, [file, ...args], { cwd: folder, stdio: 'ignore' }));
}

/** Sends so many bytes through a port and waits until as many have come back. */
async function exchange(port: number, bytes: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  let left = bytes;
  socket.on('data', (chunk: Buffer) => (left -= chunk.length) === 0 && socket.end());
  socket.write(Buffer.alloc(bytes, 'x'));
  await once(socket, 'close');
  expect(left).toBe(0);
}

describe('the console of the tunnel gateway', { timeout: 90_000 }, () => {
  it('leads from the first client with its one command and a tunnel to traffic that it shows', async () => {
    const page = await signedIn();
    await page.getByRole('link', { name: 'Create the first client' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Machine at home');
    await page.getByRole('button', { name: 'Create' }).click();
    const steps = page.getByRole('dialog', { name: 'Client Machine at home' });
    await steps.getByText('Waiting for the agent').waitFor();
    await runAgent(page);
    await steps.getByText('The agent is connected.').waitFor();

    await steps.getByRole('link', { name: 'Publish a service' }).click();
    const chosen = page.getByLabel('Client', { exact: true }).locator('option:checked');
    await chosen.filter({ hasText: 'Machine at home' }).waitFor({ state: 'attached' });
    await page.getByRole('radio', { name: 'TCP port' }).check();
    await page.getByLabel('Target', { exact: true }).fill(`127.0.0.1:${echo.port}`);
    const port = await reservePort();
    await page.getByLabel('Port', { exact: true }).fill(String(port));
    await page.getByLabel('Name', { exact: true }).fill('Echo');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('heading', { name: 'Echo', level: 1 }).waitFor();
    await page.getByText('Visitors get an answer').waitFor();
    await goTo(page, 'Tunnels');
    const row = page.getByRole('row', { name: /Echo/ });
    await row.getByText('running').waitFor();
    await row.getByText(`127.0.0.1:${port}`, { exact: true }).waitFor();

    await exchange(port, 3 * 1024 * 1024);
    await row.getByText('3.0 MiB').first().waitFor();
    await goTo(page, 'Dashboard');
    const tile = page.locator('.tile').filter({ hasText: 'To visitors' });
    await tile.getByText('3.0 MiB in total').waitFor();
    await page.getByText('1 / 1').first().waitFor();
    await page.getByRole('region', { name: 'Recent events' }).getByText('Client online').waitFor();

    await goTo(page, 'Clients');
    await page.getByRole('button', { name: 'Machine at home' }).click();
    const client = page.getByRole('dialog', { name: 'Machine at home' });
    await client.getByText('No visitor is connected.').waitFor();
    const visitor = connect(port, '127.0.0.1').on('error', () => undefined);
    visitor.write('hello');
    await client.getByRole('row', { name: /127\.0\.0\.1 .* Echo/ }).waitFor();
    await client.getByRole('button', { name: 'Disconnect …' }).click();
    const ended = new Promise((resolve) => visitor.once('close', resolve));
    await page.getByRole('button', { name: 'Disconnect', exact: true }).click();
    await page.getByText('Machine at home was disconnected.').waitFor();
    await ended;

    await page.keyboard.press('Escape');
    await goTo(page, 'Dashboard');
    const top = page.getByRole('region', { name: 'Top tunnels, last 24 hours' });
    // By the minute's sum, which the next roll-up makes; the second visitor may be in it, too.
    await top.getByRole('row', { name: /Echo 3\.0 MiB 3\.0 MiB [12]/ }).waitFor({ timeout: 30_000 });

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Username').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  it('works below a path of a proxy, and shows events as they happen, including those missed while offline', async () => {
    await using proxy = await PathProxy.start(gateway.url, '/gateway/');
    const page = await browser.open(proxy.url);
    await fillLogin(page, { username: 'admin', password: gateway.password });
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
    await goTo(page, 'Events');
    await page.getByText('live', { exact: true }).waitFor();
    const { id } = await gateway.call('POST', '/clients', { name: 'hosted' });
    const host = { client_id: id, target_addr: 'http://127.0.0.1:1' };
    await gateway.call('POST', '/hosts', { ...host, host: 'live.example.org' });
    await page.getByRole('row', { name: /live\.example\.org\/ was added/ }).waitFor();

    proxy.cut();
    await page.getByText('connecting …').waitFor();
    await gateway.call('POST', '/hosts', { ...host, host: 'missed.example.org' });
    proxy.mend();
    await page.getByRole('row', { name: /missed\.example\.org\/ was added/ }).waitFor();
    expect(await page.getByRole('row', { name: /live\.example\.org\/ was added/ }).count()).toBe(1);
    await page.getByText('live', { exact: true }).waitFor();

    await goTo(page, 'Dashboard');
    await page.getByRole('region', { name: 'Recent events' }).waitFor();
    const trouble = page.getByRole('alert').getByText('The service does not answer.');
    proxy.cut();
    await trouble.waitFor();
    proxy.mend();
    await trouble.waitFor({ state: 'detached' });
    browser.problems.splice(0); // what the browser itself says of connections that were cut
    await page.close();
  });

  it('shows an error at its field, and a conflict with a change by another user', async () => {
    const page = await signedIn();
    const { id } = await gateway.call('POST', '/clients', { name: 'contended' });
    const port = await reservePort();
    await gateway.call('POST', '/tunnels', {
      client_id: id,
      mode: 'tcp',
      listen_port: port,
      target_addr: '127.0.0.1:1',
    });
    await goTo(page, 'Tunnels');
    await page.getByRole('button', { name: 'New tunnel' }).click();
    const form = page.getByRole('dialog', { name: 'New tunnel' });
    await form.getByLabel('Client', { exact: true }).selectOption({ label: 'contended' });
    await form.getByLabel('Target', { exact: true }).fill('no target');
    await form.getByRole('button', { name: 'Create' }).click();
    const target = form.getByLabel('Target', { exact: true });
    await form.getByText(/is not a target/).waitFor();
    expect(await target.evaluate((element) => element === document.activeElement)).toBe(true);
    await target.fill('127.0.0.1:1');
    await form.getByLabel('Port', { exact: true }).fill(String(port));
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText(`Another tunnel has ${port}`).waitFor();
    expect(await form.getByLabel('Port', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    const first = await reservePorts(3);
    await target.fill('127.0.0.1:7000-7002');
    await form.getByLabel('Port', { exact: true }).fill(`${first}-${first + 2}`);
    await form.getByRole('button', { name: 'Create' }).click();
    const row = page.getByRole('row', { name: new RegExp(`tcp ${first}-${first + 2}`) });
    await row.getByText(`127.0.0.1:${first}-${first + 2}`, { exact: true }).waitFor();
    await row.getByText('127.0.0.1:7000-7002').waitFor();

    await goTo(page, 'Clients');
    await page.getByRole('button', { name: 'contended' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const edit = page.getByRole('dialog', { name: 'Edit contended' });
    await edit.getByLabel('Connection limit').fill('7');
    await gateway.call('PATCH', `/clients/${id}`, { rate_limit: 512 });
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.getByText('Someone else changed this while you were editing').waitFor();
    expect((await gateway.call('GET', `/clients/${id}`)).max_conn).toBe(0);
    await edit.getByRole('button', { name: 'Load the current values' }).click();
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('dialog input[type=number]')?.value === '512',
    );
    await edit.getByLabel('Connection limit').fill('8');
    await edit.getByRole('button', { name: 'Save' }).click();
    await page.getByText('contended was saved.').waitFor();
    expect(await gateway.call('GET', `/clients/${id}`)).toMatchObject({ max_conn: 8, rate_limit: 512 });
  });

  it('explains why an address is admitted or refused', async () => {
    const { id } = await gateway.call('POST', '/clients', { name: 'ruled' });
    const page = await signedIn();
    await goTo(page, 'IP rules');
    await page.getByRole('button', { name: 'New rule' }).click();
    const form = page.getByRole('dialog', { name: 'New rule' });
    await form.getByLabel('Scope').selectOption('client');
    await form.getByLabel('Client', { exact: true }).selectOption({ label: 'ruled' });
    await form.getByLabel('Pattern', { exact: true }).fill('198.51.100.7/24');
    expect(await form.getByLabel('Pattern type').inputValue()).toBe('cidr');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('198.51.100.0/24').waitFor();
    await form.getByLabel('Pattern', { exact: true }).fill('198.51.100.0/24');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The rule for 198.51.100.0/24 is active.').waitFor();

    await page.getByRole('link', { name: 'Check an address' }).click();
    await page.getByLabel('IP address').fill('198.51.100.9');
    await page.getByLabel('Destination').selectOption('client');
    await page.getByLabel('Client', { exact: true }).selectOption({ label: 'ruled' });
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('denied', { exact: true }).first().waitFor();
    await page.getByRole('row', { name: /Client ruled denied rule 198\.51\.100\.0\/24/ }).waitFor();
    expect((await gateway.call('GET', `/ip-rules?scope=client&resource_id=${id}`)).items).toHaveLength(1);
  });

  it('adds a list of addresses, refreshes it, and makes a rule about it', async () => {
    let text = '198.51.100.7\nnonsense\n';
    const source = createServer((_, response) => response.end(text)).listen(0, '127.0.0.1');
    await once(source, 'listening');
    const page = await signedIn();
    await goTo(page, 'IP rules');
    await page.getByRole('link', { name: 'Lists of addresses' }).click();
    await page.getByRole('button', { name: 'New list' }).click();
    const form = page.getByRole('dialog', { name: 'New list' });
    await form.getByLabel('Name').fill('office');
    await form.getByLabel('URL').fill(`http://127.0.0.1:${(source.address() as AddressInfo).port}/office.txt`);
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('begin with https://').first().waitFor();
    await form.getByLabel('Allow http and private networks').check();
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Lines that could not be read: 1').waitFor();
    text = '198.51.100.7\n198.51.100.8\n';
    await page.getByRole('button', { name: 'Refresh office' }).click();
    await page.getByText('The list office was refreshed. Entries: 2').waitFor();
    source.close();
    await page.getByRole('button', { name: 'Refresh office' }).click();
    await page.getByText('could not be asked').first().waitFor();

    await page.getByRole('link', { name: 'Rules', exact: true }).click();
    await page.getByRole('button', { name: 'New rule' }).click();
    const rule = page.getByRole('dialog', { name: 'New rule' });
    await rule.getByLabel('Pattern type').selectOption('list');
    expect(await rule.getByLabel('Pattern', { exact: true }).count()).toBe(0);
    await rule.getByRole('button', { name: 'Create' }).click();
    await rule.locator('[aria-invalid=true]').waitFor();
    await rule.getByLabel('List', { exact: true }).selectOption({ label: 'office' });
    await rule.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The rule for office is active.').waitFor();
    const { items } = await gateway.call('GET', '/ip-rules?pattern_kind=list');
    expect(items).toMatchObject([{ pattern: 'office', scope: 'global', type: 'deny' }]);

    await page.getByRole('link', { name: 'Lists of addresses' }).click();
    await page.getByRole('button', { name: 'Delete office' }).click();
    const removal = page.getByRole('dialog', { name: 'Delete this list?' });
    await removal.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Rules use the list: 1').waitFor();
    await gateway.call('DELETE', `/ip-rules/${items[0].id}`);
    await removal.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No list yet.').waitFor();
  });

  it('keeps the list of a rule after the list is gone, and says so', async () => {
    const url = 'https://lists.example.org/';
    for (const name of ['lost', 'present']) await gateway.call('POST', '/address-lists', { name, url });
    const body = { scope: 'global', type: 'deny', pattern_kind: 'list', pattern: 'lost' };
    const { id } = await gateway.call('POST', '/ip-rules', body);
    // As in a database that was changed by hand: the API deletes no list that a rule names.
    await withClient(gateway.database.url, (client) =>
      client.query(`DELETE FROM tunnel_gateway_ops.address_lists WHERE name = 'lost'`),
    );
    const page = await signedIn();
    await goTo(page, 'IP rules');
    await page.getByRole('button', { name: 'Edit rule lost' }).click();
    const form = page.getByRole('dialog');
    const lists = form.getByLabel('List', { exact: true });
    expect(await lists.locator('option:checked').innerText()).toBe('lost');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('there is no list lost').first().waitFor();
    await lists.selectOption({ label: 'present' });
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The rule for present is active.').waitFor();
    await gateway.call('DELETE', `/ip-rules/${id}`);
  });

  it('makes a rule about requests to a host, and explains it', async () => {
    const client = await gateway.call('POST', '/clients', { name: 'asked' });
    const target_addr = 'http://127.0.0.1:1';
    const host = await gateway.call('POST', '/hosts', { client_id: client.id, host: 'asked.localhost', target_addr });
    const page = await signedIn();
    await goTo(page, 'IP rules');
    await page.getByRole('button', { name: 'New rule' }).click();
    const form = page.getByRole('dialog', { name: 'New rule' });
    await form.getByLabel('Scope').selectOption('tunnel');
    expect(await form.getByLabel('Paths').count()).toBe(0);
    await form.getByLabel('Scope').selectOption('host');
    await form.getByLabel('Host', { exact: true }).selectOption({ label: 'asked.localhost' });
    await form.getByLabel('Pattern', { exact: true }).fill('*');
    expect(await form.getByLabel('Pattern type').inputValue()).toBe('any');
    await form.getByLabel('Paths').fill('/admin\n/a;b');
    await form.getByLabel('Methods').fill('post, PUT');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByText('servers read "/a;b" in different ways').first().waitFor();
    await form.getByLabel('Paths').fill('/admin/');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The rule for * is active.').waitFor();
    await page.getByText('POST PUT /admin').waitFor();
    const { items } = await gateway.call('GET', `/ip-rules?scope=host&resource_id=${host.id}`);
    expect(items).toMatchObject([{ paths: ['/admin'], methods: ['POST', 'PUT'] }]);

    await page.getByRole('link', { name: 'Check an address' }).click();
    await page.getByLabel('IP address').fill('198.51.100.9');
    await page.getByLabel('Destination').selectOption('host');
    await page.getByLabel('Host', { exact: true }).selectOption({ label: 'asked.localhost' });
    await page.getByLabel('Path', { exact: true }).fill('/x/../ADMIN');
    await page.getByLabel('Method', { exact: true }).fill('put');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('PUT /ADMIN').waitFor();
    await page.getByRole('row', { name: /Host asked\.localhost denied/ }).waitFor();
  });

  it('gives a host a name, a certificate and admitted visitors', async () => {
    const { id } = await gateway.call('POST', '/clients', { name: 'with a site' });
    const page = await signedIn();
    await goTo(page, 'Hosts');
    await page.getByRole('button', { name: 'New host' }).first().click();
    const form = page.getByRole('dialog', { name: 'New host' });
    await form.getByLabel('Client', { exact: true }).selectOption({ label: 'with a site' });
    await form.getByLabel('Domain', { exact: true }).fill('proxy.test');
    await form.getByLabel('Target', { exact: true }).fill('http://127.0.0.1:1');
    await form.getByText('Headers', { exact: true }).click();
    await form.getByLabel('Request headers').fill('X-Team: tunnels');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByText('proxy.test was created.').waitFor();
    const address = `http://proxy.test:${gateway.ports.http}/`;
    expect(await page.getByRole('link', { name: 'proxy.test', exact: true }).getAttribute('href')).toBe(address);
    const { items: hosts } = await gateway.call('GET', `/hosts?client_id=${id}`);
    expect(hosts).toMatchObject([{ request_headers: { 'X-Team': 'tunnels' }, target_addr: 'http://127.0.0.1:1' }]);

    await page.getByRole('button', { name: 'Certificate of proxy.test' }).click();
    const certificate = page.getByRole('dialog', { name: 'Certificate of proxy.test' });
    await certificate.getByRole('button', { name: 'Upload a certificate' }).click();
    await certificate.getByLabel('Certificate', { exact: true }).fill(CERTIFICATE);
    await certificate.getByLabel('Private key').fill('no key');
    await certificate.getByRole('button', { name: 'Upload', exact: true }).click();
    await certificate.locator('textarea[aria-invalid=true]').waitFor();
    await certificate.getByLabel('Private key').fill(PRIVATE_KEY);
    await certificate.getByRole('button', { name: 'Upload', exact: true }).click();
    await certificate.getByText('valid', { exact: true }).waitFor();
    await page.keyboard.press('Escape');

    await goTo(page, 'Access');
    await page.getByRole('button', { name: 'New policy' }).first().click();
    const policy = page.getByRole('dialog', { name: 'New policy' });
    await policy.getByLabel('Host', { exact: true }).selectOption({ label: 'proxy.test' });
    await policy.getByLabel('Authentication').selectOption('basic');
    await policy.getByLabel('Users', { exact: true }).fill('ann:a secret');
    await policy.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The policy is active').waitFor();
    await page.getByRole('row', { name: /proxy\.test Host User names and passwords ann/ }).waitFor();
    await waitFor(async () => (await visit('proxy.test')) === 401);
    // Let in, and then there is no agent.
    expect(await visit('proxy.test', `Basic ${btoa('ann:a secret')}`)).toBe(503);
  });

  it('publishes a site with a login, continues after a failed step, and shows what is missing', async () => {
    await gateway.call('POST', '/clients', { name: 'publisher' });
    const page = await signedIn({}, { viewport: { width: 390, height: 844 } });
    await page.goto(`${gateway.url}/#/publish`);
    await page.getByLabel('Client', { exact: true }).selectOption({ label: 'publisher (offline)' });
    await page.getByLabel('Target', { exact: true }).fill('127.0.0.1:1');
    await page.getByLabel('Domain', { exact: true }).fill('shop.localhost');
    await page.getByLabel('Access', { exact: true }).selectOption({ label: 'User names and passwords' });
    await page.getByLabel('Users', { exact: true }).fill('ann');
    await page.getByLabel('Countries and addresses').selectOption({ label: 'Deny these' });
    await page.getByLabel('Countries', { exact: true }).selectOption('AQ');
    await page.getByRole('button', { name: 'Remove Antarctica (AQ)' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('shop.localhost was created but is still disabled').waitFor();
    // Nobody gets to it before it is protected.
    const { items: begun } = await gateway.call('GET', '/hosts?q=shop.localhost');
    expect(begun).toMatchObject([{ status: 0, scheme: 'http', auto_https: 0 }]);

    await page.getByLabel('Users', { exact: true }).fill('ann:a secret');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'shop.localhost', level: 1 }).waitFor();
    await page.getByRole('link', { name: `http://shop.localhost:${gateway.ports.http}/` }).waitFor();
    await page.getByText('The agent is not connected.').waitFor();
    await page.getByText('Visitors get no answer').waitFor();
    const { items: hosts } = await gateway.call('GET', '/hosts?q=shop.localhost');
    expect(hosts).toMatchObject([{ status: 1 }]);
    const policies = await gateway.call('GET', `/auth-policies?resource_type=host&resource_id=${hosts[0].id}`);
    expect(policies.items).toMatchObject([{ type: 'basic', users: ['ann'] }]);
    const rules = await gateway.call('GET', `/ip-rules?scope=host&resource_id=${hosts[0].id}`);
    expect(rules.items).toMatchObject([{ type: 'deny', pattern_kind: 'country', pattern: 'AQ' }]);
    await page.close();
  });

  it('imports the configuration of another program after a preview', async () => {
    const page = await signedIn();
    await goTo(page, 'Import and export');
    const toml =
      '[[proxies]]\nname = "imported ssh"\ntype = "tcp"\nlocalPort = 22\nremotePort = 22022\ntransport.useCompression = true\n';
    const card = page.getByRole('region', { name: 'Import from another program' });
    await card
      .getByLabel('Files')
      .setInputFiles({ name: 'frpc.toml', mimeType: 'text/plain', buffer: Buffer.from(toml) });
    await card.getByRole('button', { name: 'Preview' }).click();
    await card.getByText('Preview:').waitFor();
    await card.getByRole('row', { name: /Tunnel imported ssh/ }).waitFor();
    expect((await gateway.call('GET', '/tunnels?q=imported')).items).toEqual([]);
    await card.getByRole('row', { name: /no counterpart .*useCompression/ }).waitFor();
    await card.getByRole('button', { name: 'Import', exact: true }).click();
    await card.getByText('Imported.').waitFor();
    await card.getByText('Save the keys and commands now').waitFor();
    expect((await gateway.call('GET', '/tunnels?q=imported')).items).toHaveLength(1);

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^gatehouse-tunnels-\d{4}-\d\d-\d\d\.json$/);
    const restore = page.getByRole('region', { name: 'Restore' });
    await restore
      .getByLabel('Export file')
      .setInputFiles({ name: 'x.json', mimeType: 'text/plain', buffer: Buffer.from('[]') });
    await restore.getByRole('button', { name: 'Restore' }).click();
    await restore.getByText('This file is no export').waitFor();
    await restore.getByLabel('Export file').setInputFiles(await file.path());
    await restore.getByRole('button', { name: 'Restore' }).click();
    await restore.getByRole('alert').getByText(/\S/).waitFor(); // everything in it is there already
  });

  it('is in Chinese for Chinese readers, on every page', async () => {
    const page = await browser.open(gateway.url, { locale: 'zh-CN' });
    await page.getByLabel('用户名').fill('admin');
    await page.getByLabel('密码', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: '登录', exact: true }).click();
    // The service answers in the language of the page.
    await page.getByRole('alert').getByText('用户名或密码错误').waitFor();
    await page.getByLabel('密码', { exact: true }).fill(gateway.password);
    await page.getByRole('button', { name: '登录', exact: true }).click();
    await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    const links = page.getByRole('navigation', { name: '页面' }).getByRole('link');
    const names = ['Machine at home', 'Machine at home（在线）', 'Machine at home（离线）'];
    for (let index = 0; index < (await links.count()); index++) {
      await links.nth(index).click();
      await page.getByRole('heading', { name: (await links.nth(index).innerText()).trim(), level: 1 }).waitFor();
      await expect.poll(() => englishIn(page, names), { message: await page.title() }).toEqual([]);
      expect(await apiNamesIn(page), await page.title()).toEqual([]);
    }
  });

  it('says on every page that it is loading until the service has answered', async () => {
    const page = await signedIn();
    const forms = ['#/publish', '#/transfer', '#/account'];
    await expectLoading(page, { forms, views: ['#/published?host=1', '#/traffic?view=totals'] });
  });

  it('shows people what they can do, and nothing that would be refused', async () => {
    for (const [username, role] of [
      ['uma', 'user'],
      ['vic', 'viewer'],
    ]) {
      await gateway.call('POST', '/users', { username, role, password: OTHER_PASSWORD });
    }
    const user = await signedIn({ username: 'uma', password: OTHER_PASSWORD });
    expect(await user.getByRole('navigation', { name: 'Pages' }).getByText('Users').count()).toBe(0);
    await goTo(user, 'Clients');
    await user.getByText('No client yet.').waitFor();
    await user.getByRole('button', { name: 'New client' }).first().click();
    expect(await user.getByRole('dialog').getByLabel('Owner').count()).toBe(0);
    await user.getByLabel('Name', { exact: true }).fill('of uma');
    await user.getByRole('button', { name: 'Create' }).click();
    await user.getByRole('dialog', { name: 'Client of uma' }).waitFor();

    const { items: users } = await gateway.call('GET', '/users?q=vic');
    const { items: clients } = await gateway.call('GET', '/clients?q=of uma');
    await gateway.call('PATCH', `/clients/${clients[0].id}`, { owner_user_id: users[0].id });
    const viewer = await signedIn({ username: 'vic', password: OTHER_PASSWORD });
    for (const name of OWN_PAGES) {
      await goTo(viewer, name);
      const buttons = await viewer.getByRole('main').getByRole('button').allInnerTexts();
      expect(
        buttons.filter((text) => /^New\b|Edit|Delete|Start|Stop/.test(text)),
        name,
      ).toEqual([]);
    }
    await goTo(viewer, 'Clients');
    await viewer.getByRole('button', { name: 'of uma' }).click();
    const dialog = viewer.getByRole('dialog', { name: 'of uma' });
    await dialog.getByText('No visitor is connected.').waitFor();
    expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['×']);
    expect(await viewer.getByRole('switch').isDisabled()).toBe(true);
  });

  it('lets users claim a domain, and administrators assign one', async () => {
    await gateway.call('POST', '/users', { username: 'dora', role: 'user', password: OTHER_PASSWORD });
    const user = await signedIn({ username: 'dora', password: OTHER_PASSWORD });
    await goTo(user, 'Domains');
    await user.getByText('No domain yet.').waitFor();
    await user.getByRole('button', { name: 'New domain' }).first().click();
    const claim = user.getByRole('dialog', { name: 'New domain' });
    await claim.getByLabel('Domain', { exact: true }).fill('co.uk');
    await claim.getByRole('button', { name: 'Next' }).click();
    await claim.getByText(/public suffix/).waitFor();
    await claim.getByLabel('Domain', { exact: true }).fill('dora.example.org');
    await claim.getByRole('button', { name: 'Next' }).click();
    const proof = user.getByRole('dialog', { name: 'Verify dora.example.org' });
    await proof.getByText('_gatehouse-challenge.dora.example.org').waitFor();
    await proof.getByText(/^gatehouse-verify=/).waitFor();
    await user.keyboard.press('Escape');
    await user.getByRole('row', { name: /dora\.example\.org DNS record not verified/ }).waitFor();

    const admin = await signedIn();
    await goTo(admin, 'Domains');
    await admin.getByRole('button', { name: 'New domain' }).first().click();
    const form = admin.getByRole('dialog', { name: 'New domain' });
    await form.getByLabel('Domain', { exact: true }).fill('given.example.org');
    await form.getByLabel('Owner').selectOption({ label: 'dora' });
    await form.getByRole('button', { name: 'Assign' }).click();
    await admin.getByRole('row', { name: /given\.example\.org dora assigned verified/ }).waitFor();
  });

  it('asks for a second factor once there is one', async () => {
    await gateway.call('POST', '/users', { username: 'tess', role: 'user', password: OTHER_PASSWORD });
    const page = await signedIn({ username: 'tess', password: OTHER_PASSWORD });
    await goTo(page, 'Account');
    await page.getByRole('button', { name: 'Set up' }).click();
    const card = page.getByRole('region', { name: 'Two-factor authentication' });
    await card.getByLabel('Your password').fill(OTHER_PASSWORD);
    await card.getByRole('button', { name: 'Next' }).click();
    const secret = await card.locator('.secret code').innerText();
    await card.getByLabel('2. Enter the code that the app shows').fill(totpOf(secret));
    await card.getByRole('button', { name: 'Turn on' }).click();
    await card.getByText('Save these recovery codes now').waitFor();
    const [recovery = ''] = (await card.locator('.secret code').innerText()).split('\n');
    await page.getByRole('button', { name: 'Sign out' }).click();

    await fillLogin(page, { username: 'tess', password: OTHER_PASSWORD });
    const code = page.getByLabel('Authentication code');
    await code.fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText(/\S/).waitFor();
    await code.fill(recovery);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
  });

  it('has pages that axe finds nothing wrong with, light and wide as well as dark and narrow', async () => {
    const page = await signedIn({}, VIEWS[0]);
    for (const name of [...OWN_PAGES, ...ADMIN_PAGES, ...ACCOUNT_PAGES]) {
      await goTo(page, name);
      await untilDrawn(page);
      expect(await page.locator('h1').count(), name).toBe(1);
      for (const { viewport, colorScheme } of VIEWS) {
        const view = `${name}, ${viewport.width} pixels wide`;
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await untilDrawn(page);
        expect(await axeFindings(page), view).toEqual([]);
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(excess, `${view}: wider than the window`).toBeLessThanOrEqual(0);
      }
      const alerts = await page.getByRole('alert').allInnerTexts();
      expect(alerts.join('').trim(), name).toBe('');
      await page.setViewportSize(VIEWS[0].viewport);
    }
  }, 180_000);

  it('has one login for all tabs, which survives a reload, and reports unknown pages', async () => {
    const page = await signedIn();
    await page.reload();
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
    const second = await page.context().newPage();
    await second.goto(`${gateway.url}#/tunnels`);
    await second.getByRole('heading', { name: 'Tunnels', level: 1 }).waitFor();
    expect(await second.evaluate(() => document.cookie + JSON.stringify(localStorage))).not.toMatch(/token/);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Username').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await fillLogin(page, { username: 'admin', password: gateway.password });
    await second.getByRole('heading', { name: 'Tunnels', level: 1 }).waitFor();

    // Filters and rows are in the address, which another tab or a bookmark can open.
    const { id } = await gateway.call('POST', '/clients', { name: 'bookmarked' });
    await goTo(second, 'Clients');
    await second.getByLabel('Search by name').fill('bookmarked');
    await second.waitForURL(/#\/clients\?q=bookmarked$/);
    await second.reload();
    expect(await second.getByLabel('Search by name').inputValue()).toBe('bookmarked');
    await second.getByRole('button', { name: 'bookmarked' }).click();
    await second.waitForURL(new RegExp(`[?&]id=${id}$`));
    await second.reload();
    await second.getByRole('dialog', { name: 'bookmarked' }).waitFor();
    await second.keyboard.press('Escape');
    await second.waitForURL(/#\/clients\?q=bookmarked$/);

    await second.goto(`${gateway.url}#/no-such-page`);
    await second.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
    await second.getByRole('link', { name: 'Go to the dashboard' }).click();
    await second.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
  });

  it('keeps language and theme of the user for other browsers', async () => {
    await gateway.call('POST', '/users', { username: 'lan', role: 'user', password: OTHER_PASSWORD });
    const first = await signedIn({ username: 'lan', password: OTHER_PASSWORD });
    await first.getByLabel('Theme').selectOption('dark');
    await first.getByLabel('Language').selectOption('zh-CN');
    await first.getByRole('heading', { name: '概览', level: 1 }).waitFor();

    const second = await browser.open(gateway.url);
    await fillLogin(second, { username: 'lan', password: OTHER_PASSWORD });
    await second.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    expect(await second.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    // Another user of the same gateway is not concerned.
    const other = await signedIn();
    expect(await other.evaluate(() => document.documentElement.lang)).toBe('en');
  });

  it('shows names as text, whatever they contain', async () => {
    const name = '<img src=x onerror=alert(1)> "quoted" & <b>bold</b>';
    await gateway.call('POST', '/clients', { name });
    const page = await signedIn();
    await goTo(page, 'Clients');
    await page.getByLabel('Search by name').fill('onerror');
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog', { name }).waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name);
  });
});

describe('a console with many rows', { timeout: 90_000 }, () => {
  it('scrolls through any number of clients, draws only those in view, and keeps its place when one changes', async () => {
    const count = 1_000;
    await withClient(gateway.database.url, (client) =>
      client.query(
        `INSERT INTO tunnel_gateway.clients (name, verify_key, owner_user_id)
          SELECT 'many ' || lpad(n::text, 4, '0'), gen_random_uuid(), 1 FROM generate_series(1, $1::integer) n`,
        [count],
      ),
    );
    const page = await signedIn();
    await page.goto(`${gateway.url}/#/clients?q=many`);
    const table = page.getByRole('table', { name: 'Clients' });
    await table.getByText('many 0001').waitFor();
    const list = page.getByRole('region', { name: 'Clients' });
    await expect
      .poll(
        async () => {
          await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
          return table.getByText('many 1000').count();
        },
        { timeout: 60_000 },
      )
      .toBe(1);
    expect(await table.getByRole('row').count()).toBeLessThan(60);
    expect(await table.getAttribute('aria-rowcount')).toBe(String(count + 1));
    const { items } = await gateway.call('GET', '/clients?q=many%200999');
    await gateway.call('PATCH', `/clients/${items[0].id}`, { status: 0 });
    await table.getByRole('switch', { name: /many 0999/, checked: false }).waitFor();
    expect(await table.getByText('many 1000').count()).toBe(1);
    await page.getByRole('searchbox').fill('many 0500');
    await table.getByText('many 0500').waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
  });
});

describe('a new gateway', { timeout: 90_000 }, () => {
  it('creates its first administrator with the token, and asks for a login from then on', async () => {
    await using own = await RunningTunnelGateway.start('setup');
    const page = await browser.open(own.url);
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    const token = page.getByLabel('Setup token');
    await token.fill('gst_wrong');
    expect(await page.getByLabel('Username').inputValue()).toBe('');
    await page.getByLabel('Username').fill('root');
    await page.getByLabel('Password', { exact: true }).fill(OTHER_PASSWORD);
    await page.getByLabel('Repeat password').fill('something else');
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByText('Is not the same').waitFor();
    await page.getByLabel('Repeat password').fill(OTHER_PASSWORD);
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByText(/Does not match the one that the service wrote/).waitFor();
    expect(await token.getAttribute('aria-invalid')).toBe('true');
    await token.fill(own.setupToken);
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Create the first client' }).waitFor();

    await page.evaluate(() => sessionStorage.setItem(sessionStorage.key(0)!, 'no-token'));
    await page.reload();
    await page.getByText('The session has ended.').waitFor();
    // The wrong token counts as a guess, too.
    const outcome = page.locator('.form-error');
    for (let attempt = 1; attempt <= 4; attempt++) {
      await fillLogin(page, { username: 'root', password: `wrong ${attempt}` });
      await outcome.getByText('is wrong').waitFor();
      await page.getByRole('button', { name: 'Sign in', disabled: false, exact: true }).waitFor();
    }
    await fillLogin(page, { username: 'root', password: 'wrong again' });
    await outcome.getByText(/Try again in \d+ /).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in', exact: true }).isDisabled()).toBe(true);
  });
});

/** Status of what a visitor of a host gets. */
function visit(host: string, authorization?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, ...(authorization !== undefined && { authorization }) };
    const asked = request({ host: '127.0.0.1', port: gateway.ports.http, headers, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.on('error', reject).end();
  });
}

/** What an authenticator shows for a key (RFC 6238). */
function totpOf(base32: string): string {
  const bits = (base32.match(/[A-Z2-7]/g) ?? [])
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const value = mac.readUInt32BE(mac[19]! & 15) & 0x7fff_ffff;
  return String(value % 1_000_000).padStart(6, '0');
}
