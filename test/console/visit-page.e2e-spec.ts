import { connect } from 'node:net';
import { findPeer, reservePort, startTcpEcho, type TcpEcho, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { TestBrowser } from '../support/browser.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const PEERS = ['chromium'];

let gateway: RunningTunnelGateway;
let browser: TestBrowser;
let echo: TcpEcho;

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  gateway = await RunningTunnelGateway.start();
  browser = await TestBrowser.start(findPeer('chromium')!);
  echo = await startTcpEcho();
}, 90_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await echo?.close();
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

it('lets an address in to a raw tunnel from a browser without scripts, under the strictest of policies', async () => {
  const tunnel = await gateway.call('POST', '/tunnels', {
    client_id: await gateway.clientWithAgent(),
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
