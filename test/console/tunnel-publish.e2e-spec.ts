import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
  findPeer,
  makeCertificate,
  reservePort,
  reservePorts,
  startHttpOrigin,
  startTcpEcho,
  type HttpOrigin,
  type TcpEcho,
  waitFor,
} from '@gatehouse/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AgentPrograms, type StartedAgent } from '../support/agent-program.js';
import { axeFindings } from '../support/axe.js';
import { TestBrowser } from '../support/browser.js';
import { englishIn, fillLogin } from '../support/console-pages.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const PEERS = ['chromium'];

let gateway: RunningTunnelGateway;
let browser: TestBrowser;
let echo: TcpEcho;
let site: HttpOrigin;
let clientId: number;

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  gateway = await RunningTunnelGateway.start();
  browser = await TestBrowser.start(findPeer('chromium')!);
  echo = await startTcpEcho();
  site = await startHttpOrigin();
  clientId = await gateway.clientWithAgent();
}, 90_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await echo?.close();
  await site?.close();
});

beforeEach((context) => {
  for (const name of PEERS) requirePeer(context, name);
});

async function isIn(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    socket.end('ping');
    let text = '';
    for await (const part of socket) text += String(part);
    return text === 'ping';
  } catch {
    return false;
  }
}

it('admits an address to a raw tunnel from a browser without scripts, under the strictest policy', async () => {
  const tunnel = await gateway.call('POST', '/tunnels', {
    client_id: clientId,
    mode: 'tcp',
    listen_ip: '127.0.0.1',
    listen_port: await reservePort(),
    target_addr: `127.0.0.1:${echo.port}`,
  });
  await waitFor(() => isIn(tunnel.listen_port), { timeoutMs: 10_000 });
  await gateway.call('POST', '/auth-policies', {
    resource_type: 'tunnel',
    resource_id: tunnel.id,
    type: 'password',
    password: 'open sesame',
  });
  await waitFor(async () => !(await isIn(tunnel.listen_port)));
  const page = await browser.open(`${gateway.url}/visit/tunnel/${tunnel.id}`, { javaScriptEnabled: false });
  expect(await page.title()).toBe(`Sign in - Tunnel ${tunnel.id}`);
  // The style is in force: its hash is what the policy says.
  expect(await page.locator('body').evaluate((body) => getComputedStyle(body).maxWidth)).toBe('448px');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  expect(await page.getByRole('alert').textContent()).toBe('Wrong password.');
  expect(await isIn(tunnel.listen_port)).toBe(false);
  await page.getByLabel('Password').fill('open sesame');
  await page.getByRole('button', { name: 'Sign in' }).click();
  expect(await page.getByRole('status').textContent()).toContain('127.0.0.1 has access until');
  expect(new URL(page.url()).pathname).toBe(`/visit/tunnel/${tunnel.id}`);
  await waitFor(() => isIn(tunnel.listen_port), { timeoutMs: 1_000 });
  expect(browser.problems.filter((problem) => !problem.startsWith(`request: ${gateway.url}/`))).toEqual([]);
});

describe('publishing a service', { timeout: 60_000 }, () => {
  async function publishForm(options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
    const page = await browser.open(`${gateway.url}/#/publish`, options);
    await fillLogin(page, { username: 'admin', password: gateway.password });
    // The page that the address named is there after signing in, and its only client is chosen.
    await page.getByRole('heading', { name: 'Publish a service', level: 1 }).waitFor();
    await page
      .getByLabel('Client', { exact: true })
      .locator('option:checked', { hasText: 'home (online)' })
      .waitFor({ state: 'attached' });
    return page;
  }

  const publish = (page: Page): Promise<void> => page.getByRole('button', { name: 'Publish', exact: true }).click();
  const shared = (page: Page) => page.getByRole('region', { name: 'Address to share' });

  it('creates a web site with a certificate and a password, on a phone, and reports that it answers', async () => {
    const page = await publishForm({ viewport: { width: 390, height: 800 } });
    await page.getByLabel('Target', { exact: true }).fill(String(site.port));
    await page.getByLabel('Domain', { exact: true }).fill('site.localhost');
    expect(await page.getByLabel('HTTPS', { exact: true }).inputValue()).toBe('none');
    await page.getByLabel('HTTPS', { exact: true }).selectOption('own');
    const { certificate, key } = makeCertificate({ subject: 'site.localhost', names: ['site.localhost'] });
    await page.getByRole('textbox', { name: 'Certificate' }).fill(certificate);
    await page.getByLabel('Private key').fill(key);
    await page.getByLabel('Access', { exact: true }).selectOption('password');
    await page.getByLabel('Visitors’ password').fill('open sesame');
    await page.getByLabel('Countries and addresses').selectOption('deny');
    await page.getByLabel('Countries', { exact: true }).selectOption('AQ');
    await page.getByLabel('IP addresses').fill('198.51.100.0/24');
    await publish(page);

    await page.getByRole('heading', { name: 'site.localhost', level: 1 }).waitFor();
    await page.getByText('Visitors get an answer').waitFor();
    const address = `https://site.localhost:${gateway.ports.https}/`;
    await shared(page).getByRole('link', { name: address }).waitFor();
    await shared(page).getByRole('img', { name: 'QR code of the address' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const { items: rules } = await gateway.call('GET', '/ip-rules?scope=host');
    expect(rules.map(({ pattern, type }: { pattern: string; type: string }) => `${type} ${pattern}`).sort()).toEqual([
      'deny 198.51.100.0/24',
      'deny AQ',
    ]);

    const visitor = await browser.open(address, { ignoreHTTPSErrors: true });
    await visitor.getByLabel('Password').fill('open sesame');
    await visitor.getByRole('button', { name: 'Sign in' }).click();
    await visitor.getByText('ok', { exact: true }).waitFor();
    await visitor.close();

    // The address names the service: it is there after loading the page again.
    await page.reload();
    await page.getByText('Visitors must authenticate').waitFor();
    await page.close();
  });

  it('names the failed step, keeps the service closed, and continues or undoes everything', async () => {
    const page = await publishForm();
    await page.getByRole('radio', { name: 'TCP port' }).check();
    await page.getByLabel('Target', { exact: true }).fill(`127.0.0.1:${echo.port}`);
    const port = await reservePort();
    await page.getByLabel('Port', { exact: true }).fill(String(port));
    await page.getByLabel('Name', { exact: true }).fill('guarded echo');
    await page.getByLabel('Countries and addresses').selectOption('allow');
    await page.getByLabel('IP addresses').fill('127.0.0.1/8');
    await publish(page);
    await page.getByText('guarded echo was created but is still disabled').waitFor();
    await page.locator('textarea[aria-invalid=true]').waitFor();
    expect((await gateway.call('GET', '/tunnels?q=guarded')).items).toMatchObject([{ status: 0 }]);
    expect(await isIn(port)).toBe(false);
    expect(await page.getByLabel('Port', { exact: true }).isDisabled()).toBe(true);

    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('guarded echo was removed.').waitFor();
    expect((await gateway.call('GET', '/tunnels?q=guarded')).items).toEqual([]);

    await publish(page);
    await page.getByText('guarded echo was created but is still disabled').waitFor();
    await page.getByLabel('IP addresses').fill('127.0.0.0/8');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'guarded echo', level: 1 }).waitFor();
    await page.getByText('Visitors get an answer').waitFor();
    await shared(page).getByText(`127.0.0.1:${port}`, { exact: true }).waitFor();
    await waitFor(() => isIn(port), { timeoutMs: 10_000 });
    expect((await gateway.call('GET', '/ip-rules?scope=tunnel')).items).toHaveLength(1);
    await page.close();
  });

  it('shows the key of a private service once, before its page', async () => {
    const page = await publishForm();
    await page.getByRole('radio', { name: 'Private service' }).check();
    await page.getByLabel('Target', { exact: true }).fill(String(echo.port));
    await page.getByLabel('Name', { exact: true }).fill('private echo');
    await publish(page);
    const keyed = page.getByRole('dialog', { name: 'Visitors of private echo' });
    expect(await keyed.locator('.secret code').first().innerText()).toContain('gtv1.');
    await keyed.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { name: 'private echo', level: 1 }).waitFor();
    await page.getByText('Visitors need the key').waitFor();
    await shared(page).getByText('There is no public address').waitFor();
    expect(await shared(page).getByRole('link').count()).toBe(0);
    await page.close();
  });

  it('shows why visitors get no answer, links to the place to fix it, and notices the fix', async () => {
    const unused = await reservePort();
    const { id } = await gateway.call('POST', '/hosts', {
      client_id: clientId,
      host: 'closed.localhost',
      target_addr: `http://127.0.0.1:${unused}`,
    });
    const page = await browser.open(`${gateway.url}/#/published?host=${id}`, { locale: 'zh-CN' });
    await page.getByLabel('用户名').fill('admin');
    await page.getByLabel('密码', { exact: true }).fill(gateway.password);
    await page.getByRole('button', { name: '登录', exact: true }).click();
    await page.getByText('目标拒绝连接：没有程序监听该端口。').waitFor();
    expect(await englishIn(page)).toEqual([]);
    const edit = page.getByRole('link', { name: '编辑' });
    expect(await edit.getAttribute('href')).toBe(`#/hosts?id=${id}`);
    await using _late = await startHttpOrigin({ port: unused });
    await page.getByText('访客可以访问').waitFor();

    await page.getByRole('link', { name: '事件', exact: true }).last().click();
    await page.getByRole('heading', { name: '事件', level: 1 }).waitFor();
    await page.getByRole('button', { name: '仅 closed.localhost ×' }).waitFor();
    expect(new URL(page.url()).hash).toBe(`#/events?resource_type=host&resource_id=${id}`);

    await page.goto(`${gateway.url}/#/hosts?id=${id}&show=certificate`);
    await page.getByRole('dialog', { name: 'closed.localhost 的证书' }).waitFor();
    await page.close();
  });

  it('says which port of a range was tried, and tries another one', async () => {
    const [listen_port, unused] = [await reservePorts(2), await reservePorts(2)];
    const { id } = await gateway.call('POST', '/tunnels', {
      client_id: clientId,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port,
      port_count: 2,
      target_addr: `127.0.0.1:${unused}-${unused + 1}`,
    });
    await using _second = await startHttpOrigin({ port: unused + 1 });
    const page = await browser.open(`${gateway.url}/#/published?tunnel=${id}`);
    await fillLogin(page, { username: 'admin', password: gateway.password });
    await page.getByText(`for port ${listen_port}`, { exact: true }).waitFor();
    await page.getByText('The target refuses connections: nothing listens on its port.').waitFor();
    const port = page.getByLabel('Port', { exact: true });
    await port.fill(String(listen_port + 1));
    await page.getByText('Visitors get an answer').waitFor();
    await page.getByText(`for port ${listen_port + 1}`, { exact: true }).waitFor();
    await port.fill(String(listen_port + 2));
    await page.getByText(`the tunnel has the ports ${listen_port} to ${listen_port + 1}`).waitFor();
    await page.close();
  });
});

describe('the login of a machine', { timeout: 60_000 }, () => {
  const agents = new AgentPrograms(process.execPath);
  const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-login-'));
  afterAll(() => {
    agents.killAll();
    rmSync(home, { recursive: true });
  });
  const agent = (...args: string[]) => agents.start(args, { HOME: home, LANG: 'C' });
  const kept = (): string =>
    path.join(home, '.config/gatehouse-agent/gateways', `${encodeURIComponent(gateway.url)}.json`);

  /** The address and the code that the program shows. */
  async function shown(started: StartedAgent): Promise<{ address: string; code: string }> {
    const [, address = '', code = ''] = await waitFor(
      () =>
        /Open (\S+) in a browser, log in, and enter the code ([A-Z]{4}-[A-Z]{4})\n/.exec(started.output()) ?? undefined,
    );
    return { address, code };
  }

  it('is approved in the browser, lets it publish, and ends with its logout', async () => {
    const login = agent('login', gateway.url);
    const { address, code } = await shown(login);
    expect(address).toBe(`${gateway.url}/#/device`);
    expect(login.output()).toMatch(/^ {2}[█▀▄ ]{20,}$/m);
    // As the QR code leads there, before its user is signed in.
    const page = await browser.open(`${address}?user_code=${code}`, { viewport: { width: 390, height: 800 } });
    await fillLogin(page, { username: 'admin', password: gateway.password });
    await page.getByRole('heading', { name: 'Log a machine in', level: 1 }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Code' }).inputValue()).toBe(code);
    await page.getByRole('button', { name: 'Continue' }).click();
    const question = page.getByRole('region', { name: `Log ${os.hostname()} in?` });
    await question.getByText('127.0.0.1', { exact: true }).waitFor();
    await question.getByText(code, { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await question.getByLabel('Your password').fill('a guess');
    await question.getByRole('button', { name: 'Approve' }).click();
    await question.getByRole('alert').filter({ hasText: 'The current password or the code is wrong' }).waitFor();
    await question.getByLabel('Your password').fill(gateway.password);
    await question.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('region', { name: 'The machine is logged in' }).waitFor();
    expect(await login.code).toBe(0);
    expect(login.output()).toContain(`Logged in at ${gateway.url} as admin; the key is in ${kept()}`);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect(login.output()).not.toContain('gtk_');
    await page.getByRole('main').getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await page.getByRole('row', { name: new RegExp(`${os.hostname()}.*Read and write`) }).waitFor();

    // The only gateway need not be named.
    const publishing = agent('tcp', String(echo.port), '--log', 'text');
    await waitFor(() => publishing.output().includes('Ctrl-C'));
    publishing.child.kill('SIGINT');
    expect(await publishing.code).toBe(0);

    const logout = agent('logout');
    expect(await logout.code).toBe(0);
    expect(logout.output()).toContain('the key was revoked and deleted');
    expect(readdirSync(home)).toEqual([]);
    await page.reload();
    await page.getByText('No API key yet.').waitFor();
    await page.close();
  });

  it('is refused in the browser, in Chinese', async () => {
    const login = agent('login', gateway.url);
    const { code } = await shown(login);
    const page = await browser.open(`${gateway.url}/#/device`, { locale: 'zh-CN' });
    await page.getByLabel('用户名').fill('admin');
    await page.getByLabel('密码', { exact: true }).fill(gateway.password);
    await page.getByRole('button', { name: '登录', exact: true }).click();
    const field = page.getByRole('textbox', { name: '代码' });
    await field.fill('BCDF-GHJK');
    await page.getByRole('button', { name: '继续' }).click();
    await page.getByText('不存在、已过期或已使用').waitFor();
    await field.fill(code.toLowerCase().replace('-', ''));
    await page.getByRole('button', { name: '继续' }).click();
    await page.getByRole('button', { name: '拒绝' }).waitFor();
    expect(await englishIn(page)).toEqual([]);
    await page.getByRole('button', { name: '拒绝' }).click();
    await page.getByText('该机器不会获得密钥。').waitFor();
    expect(await login.code).toBe(7);
    expect(login.output()).toContain('the login was refused in the browser');
    await page.close();
  });
});
