import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import type { HttpOrigin } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

let gateway: Gateway;
let origin: HttpOrigin;

beforeAll(async () => {
  gateway = await startGateway();
  origin = await startHttpOrigin();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await origin[Symbol.asyncDispose]();
});

const set = (settings: Record<string, string>) => gateway.call('PUT', '/settings', settings);
const listener = (name: string) =>
  waitFor(async () => (await gateway.kernel.status()).listeners.find((each) => each.name === name));
const gone = (name: string) =>
  waitFor(async () => !(await gateway.kernel.status()).listeners.some((each) => each.name === name) || undefined);

async function statusThrough(port: number, authorization?: string): Promise<number> {
  const headers = { host: 'origin', ...(authorization && { 'proxy-authorization': authorization }) };
  const asked = request({ host: '127.0.0.1', port, path: `${origin.url}/`, headers, agent: false });
  const [reply] = await once(asked.end(), 'response');
  reply.resume();
  return reply.statusCode;
}

/** A SOCKS5 server's answer to these methods. */
async function socksMethod(port: number, methods: readonly number[]): Promise<number[]> {
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.from([5, methods.length, ...methods]));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return [...answer];
}

it('opens and closes listeners of one protocol, and admits known users only', async () => {
  expect((await set({ 'kernel.listen.http': ':0', 'kernel.listen.socks': '127.0.0.1:0' })).status).toBe(200);
  const [http, socks] = [await listener('http'), await listener('socks')];
  expect([http.type, socks.type, http.address]).toEqual(['http', 'socks', '127.0.0.1']);
  expect(await statusThrough(http.port)).toBe(200);
  expect(await socksMethod(socks.port, [0])).toEqual([5, 0]);

  expect((await set({ 'kernel.users': 'ann:one, bob:t:wo' })).status).toBe(200);
  await waitFor(async () => (await statusThrough((await listener('http')).port)) === 407 || undefined);
  const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
  expect(await statusThrough((await listener('http')).port, basic('bob:t:wo'))).toBe(200);
  expect(await statusThrough((await listener('http')).port, basic('bob:one'))).toBe(407);
  expect(await socksMethod((await listener('socks')).port, [0])).toEqual([5, 255]);
  expect(await socksMethod((await listener('socks')).port, [0, 2])).toEqual([5, 2]);

  const { key } = (await gateway.call('POST', '/api-keys', { name: 'r', scopes: ['read'] })).body;
  const shown = await gateway.call('GET', '/settings', undefined, { authorization: `Bearer ${key}` });
  expect(shown.body['kernel.users']).not.toMatch(/one|wo/);

  await set({ 'kernel.listen.http': '', 'kernel.listen.socks': '', 'kernel.users': '' });
  await gone('http');
  await gone('socks');
});

it('uses the users of the environment, until the settings name others', async () => {
  await using other = await startGateway({ PROXY_KERNEL_USERS: 'env:pa:ss' });
  const mixed = async (): Promise<number> => {
    const { kernel } = (await other.call('GET', '/system/status')).body;
    return kernel.listeners.find(({ type }: { type: string }) => type === 'mixed').port as number;
  };
  const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
  expect(await statusThrough(await mixed())).toBe(407);
  expect(await statusThrough(await mixed(), basic('env:pa:ss'))).toBe(200);
  expect((await other.call('PUT', '/settings', { 'kernel.users': 'ann:one' })).status).toBe(200);
  await waitFor(async () => (await statusThrough(await mixed(), basic('ann:one'))) === 200 || undefined);
  expect(await statusThrough(await mixed(), basic('env:pa:ss'))).toBe(407);
});

it('resolves names as the settings say', async () => {
  const port = new URL(origin.url).port;
  const asked = async () => {
    const { port: proxy } = await listener('mixed');
    const [reply] = await once(
      request({ host: '127.0.0.1', port: proxy, path: `http://only.here.test:${port}/`, agent: false }).end(),
      'response',
    );
    reply.resume();
    return reply.statusCode as number;
  };
  expect(await asked()).toBeGreaterThanOrEqual(500);
  const { status } = await set({ 'dns.hosts': '+.here.test=127.0.0.1', 'dns.policy': '+.corp.test=system' });
  expect(status).toBe(200);
  await waitFor(async () => (await asked()) === 200 || undefined);
  for (const [key, value] of [
    ['dns.hosts', 'here.test'],
    ['dns.hosts', 'here.test=here'],
    ['dns.nameservers', 'ftp://x'],
    ['dns.bootstrap', 'https://dns.example/dns-query'],
    ['dns.policy', 'a.test=nowhere://'],
  ] as const) {
    const { status: refused, body } = await set({ [key]: value });
    expect([refused, body.details?.[0]?.field], value).toEqual([400, key]);
  }
  await set({ 'dns.hosts': '', 'dns.policy': '' });
});

it.each(['ann', 'ann:', ':one', 'ann:one ann:two', 'ann:o\u00e9'])('refuses %j as users', async (value) => {
  const { status, body } = await set({ 'kernel.users': value });
  expect([status, body.details?.[0]?.field]).toEqual([400, 'kernel.users']);
});
