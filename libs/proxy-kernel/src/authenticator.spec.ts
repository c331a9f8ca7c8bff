import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { ByteReader } from '@gatehouse/net';
import { afterEach, describe, expect, it } from 'vitest';
import { createProxyKernel, type ProxyKernel } from './index.js';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const users = [
  { username: 'ann', password: 'right' },
  { username: 'bob', password: 'also right' },
];
const kernels: ProxyKernel[] = [];
afterEach(async () => {
  for (const kernel of kernels.splice(0)) await kernel.close();
});

interface Proxy {
  port: number;
  /** Advances the clock. */
  pass(ms: number): void;
}

async function startProxy(): Promise<Proxy> {
  let later = 0;
  const kernel = createProxyKernel({
    now: () => Date.now() + later,
    logger: quiet,
    resolver: { resolve: () => Promise.resolve(['127.0.0.1']) },
    country: () => null,
  });
  kernels.push(kernel);
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0, users }],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'REJECT',
  });
  return { port: listeners[0]!.port, pass: (ms) => (later += ms) };
}

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** The status of a plain request; 403 comes from the policy, so the credentials were right. */
async function http({ port }: Proxy, user: string, password: string): Promise<{ status: number; retryAfter: number }> {
  const asked = request({
    host: '127.0.0.1',
    port,
    path: 'http://a.example/',
    headers: { 'proxy-authorization': basic(user, password) },
    agent: false,
  });
  const [answer] = await once(asked.end(), 'response');
  answer.resume();
  return { status: answer.statusCode, retryAfter: Number(answer.headers['retry-after'] ?? 0) };
}

async function connectStatus({ port }: Proxy, user: string, password: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  const authorization = `Proxy-Authorization: ${basic(user, password)}`;
  socket.write(`CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n${authorization}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return Number(head.toString().split(' ')[1]);
}

/** Status of RFC 1929: 0 for accepted. */
async function socks({ port }: Proxy, user: string, password: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const [name, secret] = [Buffer.from(user), Buffer.from(password)];
  socket.write(Buffer.from([5, 1, 2, 1, name.length, ...name, secret.length, ...secret]));
  const reader = new ByteReader(socket);
  await reader.read(2);
  const status = (await reader.read(2))[1]!;
  socket.destroy();
  return status;
}

const RIGHT = 403;

describe('guesses at users of the proxy', () => {
  it('are limited; until then the right password gets the same answer as a wrong one', async () => {
    const proxy = await startProxy();
    const seen: number[] = [];
    for (let guess = 0; guess < 20; guess++) seen.push((await http(proxy, 'ann', `guess ${guess}`)).status);
    expect(seen).toEqual([407, 407, 407, 407, 407, ...Array.from({ length: 15 }, () => 429)]);
    expect(await http(proxy, 'ann', 'right')).toMatchObject({ status: 429, retryAfter: expect.any(Number) });
    expect((await http(proxy, 'ann', 'right')).retryAfter).toBeGreaterThan(0);
    expect(await connectStatus(proxy, 'ann', 'right')).toBe(429);
    expect(await socks(proxy, 'ann', 'right')).toBe(1);
    proxy.pass(61_000);
    expect((await http(proxy, 'ann', 'right')).status).toBe(RIGHT);
  });

  it('by CONNECT and SOCKS count as well', async () => {
    const proxy = await startProxy();
    for (let guess = 0; guess < 3; guess++) expect(await connectStatus(proxy, 'ann', `guess ${guess}`)).toBe(407);
    for (let guess = 3; guess < 5; guess++) expect(await socks(proxy, 'ann', `guess ${guess}`)).toBe(1);
    expect(await connectStatus(proxy, 'ann', 'another')).toBe(429);
  });

  it('limit the guesser, not others behind the same address', async () => {
    const proxy = await startProxy();
    expect((await http(proxy, 'bob', 'also right')).status).toBe(RIGHT);
    for (let guess = 0; guess < 50; guess++) await http(proxy, guess % 2 ? 'ann' : `user ${guess}`, `guess ${guess}`);
    expect((await http(proxy, 'ann', 'right')).status).toBe(429);
    for (let again = 0; again < 20; again++) expect((await http(proxy, 'bob', 'also right')).status).toBe(RIGHT);
    expect(await socks(proxy, 'bob', 'also right')).toBe(0);
  });

  it('count once for a program that repeats the same wrong password', async () => {
    const proxy = await startProxy();
    for (let again = 0; again < 30; again++) expect((await http(proxy, 'ann', 'an old one')).status).toBe(407);
    expect((await http(proxy, 'ann', 'right')).status).toBe(RIGHT);
  });
});
