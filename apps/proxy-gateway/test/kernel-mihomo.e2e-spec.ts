import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProxyKernel, createSystemResolver } from '@gatehouse/proxy-kernel';
import { findPeer, makeCertificate, reservePort, startHttpOrigin, waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { mihomoBasics } from '../src/kernel/mihomo/mihomo-config.js';
import { MihomoProgram } from '../src/kernel/mihomo/mihomo-program.js';
import { readSettings } from '../src/settings.js';
import { startGateway } from './support/gateway.js';
import { datagramsThrough, getThrough, startUdpEcho } from './support/proxy-client.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';

describe('kernel.mode', () => {
  it('cannot be mihomo while the environment names no program', async () => {
    await using gateway = await startGateway();
    const { status, body } = await gateway.call('PUT', '/settings', { 'kernel.mode': 'mihomo' });
    expect(status).toBe(400);
    expect(body.details).toEqual([{ field: 'kernel.mode', message: expect.stringContaining('PROXY_GATEWAY_MIHOMO') }]);
  });

  it('finds the program in PATH unless a variable names one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mihomo-path-'));
    try {
      const [other, found] = ['first', 'second'].map((name) => join(folder, name, 'mihomo'));
      mkdirSync(other!, { recursive: true });
      mkdirSync(join(folder, 'second'));
      writeFileSync(found!, '#!/bin/sh\n');
      chmodSync(found!, 0o700);
      const required = { DATABASE_URL: 'postgres://127.0.0.1/db' };
      const PATH = ['relative', join(folder, 'first'), join(folder, 'second')].join(':');
      expect(readSettings({ ...required, PATH }).mihomo).toBe(found);
      expect(readSettings({ ...required, PATH, PROXY_GATEWAY_MIHOMO: '/opt/mihomo' }).mihomo).toBe('/opt/mihomo');
      expect(readSettings({ ...required, PATH: join(folder, 'first') }).mihomo).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has mihomo carry the traffic, by the same rules and groups, with what only it can dial', async (context) => {
    const program = findPeer('mihomo') ?? context.skip('mihomo is not installed: npm run peers -- --go');
    await using origin = await startHttpOrigin();
    await using upstream = await startUpstreamProxy();
    await using gateway = await startGateway({ PROXY_GATEWAY_MIHOMO: program }, { 'kernel.mode': 'mihomo' });
    const { body: status } = await gateway.call('GET', '/system/status');
    expect(status.kernel).toMatchObject({ type: 'mihomo', state: 'running', version: expect.any(String) });
    const raw = JSON.stringify({ server: '127.0.0.1', port: upstream.port });
    const node = await gateway.call('POST', '/proxies', { name: 'upstream', type: 'http', raw_config: raw });
    expect(node.status).toBe(201);
    const external = `hysteria2://secret@127.0.0.1:9?sni=example.com#by mihomo`;
    const other = await gateway.call('POST', '/proxies', { name: 'h2', type: 'hysteria2', raw_config: external });
    expect(other.body).toMatchObject({ kernel_support: 'external' });
    await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: `n${node.body.id}` });
    const rule = { type: 'DST-PORT', payload: String(origin.port), target: 'PROXY' };
    const { body: made } = await gateway.call('POST', '/rules', rule);
    await waitFor(async () => (await gateway.call('GET', '/system/status')).body.kernel.left_out_total === 0);
    const answer = await waitFor(async () => {
      const got = await getThrough(gateway.proxyPort, `${origin.url}/bytes/1000`);
      return upstream.targets.length > 0 ? got : undefined;
    });
    expect(answer.body).toHaveLength(1000);
    const tested = await gateway.call('POST', '/rules/test', { url: `${origin.url}/bytes/1000` });
    expect(tested.body).toMatchObject({ matched: true, rule: { id: made.id }, chain: ['PROXY', 'upstream'] });
  });

  it('refuses wishes in user names, users with limits and ports of groups, and says so', async (context) => {
    const program = findPeer('mihomo') ?? context.skip('mihomo is not installed: npm run peers -- --go');
    await using origin = await startHttpOrigin();
    const environment = { PROXY_GATEWAY_MIHOMO: program, PROXY_KERNEL_USERS: 'ann:right' };
    await using gateway = await startGateway(environment, { 'kernel.mode': 'mihomo' });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'DIRECT' });
    const login = async (user: string, password = 'right'): Promise<number> => {
      const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
      // mihomo goes to the host of this field.
      const headers = { host: new URL(origin.url).host, 'proxy-authorization': authorization };
      const path = `${origin.url}/bytes/10`;
      const asked = request({ host: '127.0.0.1', port: gateway.proxyPort, path, headers, agent: false });
      const [reply] = await once(asked.end(), 'response');
      reply.resume();
      return reply.statusCode;
    };
    expect((await gateway.call('POST', '/system/reload')).status).toBe(200);
    expect([await login('ann'), await login('ann-country-jp')]).toEqual([200, 403]);
    const { body: logs } = await gateway.call('GET', '/logs?search=wishes');
    expect(logs.items).toMatchObject([{ level: 'warning', message: expect.stringContaining('reads no wishes') }]);

    // mihomo holds no limits, so it gets the users without any alone.
    for (const limits of [{ name: 'free' }, { name: 'bound', max_connections: 5 }]) {
      const user = await gateway.call('POST', '/proxy-users', { ...limits, password: 'right-one' });
      expect(user.body.status).toBe(limits.name === 'free' ? 'active' : 'not_in_mihomo');
    }
    expect([await login('free', 'right-one'), await login('bound', 'right-one')]).toEqual([200, 403]);
    const asked = { url: 'http://a.test/', user: 'ann-country-jp' };
    expect((await gateway.call('POST', '/rules/test', asked)).body.details).toEqual([
      { field: 'user', message: 'mihomo reads nothing behind the name of a user' },
    ]);

    const groups = { 'kernel.listen.groups': '127.0.0.1:0=PROXY' };
    const { status, body } = await gateway.call('PUT', '/settings', groups);
    expect([status, body.details?.[0]?.field]).toEqual([400, 'kernel.listen.groups']);
    // The new mode waits for a restart, so mihomo still runs and must not listen there.
    const changed = await gateway.call('PUT', '/settings', { ...groups, 'kernel.mode': 'embedded' });
    expect(changed.status).toBe(200);
    expect((await gateway.call('POST', '/system/reload')).status).toBe(200);
    const { listeners } = await gateway.kernel.status();
    expect(listeners.map(({ name }) => name)).toEqual(['mixed']);
  });

  it('tests the nodes that only mihomo dials, enabled or not, and refuses rules that only mihomo refuses', async (context) => {
    const program = findPeer('mihomo') ?? context.skip('mihomo is not installed: npm run peers -- --go');
    await using origin = await startHttpOrigin();
    await using server = await startHysteria(program);
    const stored = { 'kernel.mode': 'mihomo', 'health.url': `${origin.url}/bytes/10`, 'health.expected_status': '200' };
    await using gateway = await startGateway({ PROXY_GATEWAY_MIHOMO: program }, stored);
    const add = async (name: string, password: string, more = {}): Promise<number> => {
      const link = `hysteria2://${password}@127.0.0.1:${server.port}?insecure=1#${name}`;
      const body = { name, type: 'hysteria2', raw_config: link, ...more };
      return (await gateway.call('POST', '/proxies', body)).body.id;
    };
    const [good, bad] = [await add('good', 'secret'), await add('bad', 'wrong')];
    const off = await add('off', 'second');
    await gateway.call('PUT', `/proxies/${off}`, { enabled: false });
    const test = async (id: number) => (await gateway.call('POST', `/proxies/${id}/test`)).body;
    expect(await test(good)).toMatchObject({ ok: true, delay_ms: expect.any(Number), error: null });
    expect(await test(off)).toMatchObject({ ok: true });
    expect(await test(bad)).toMatchObject({ ok: false, error: { message: expect.any(String) } });
    const { body: job } = await gateway.call('POST', '/proxies/test-all');
    const done = await waitFor(async () => {
      const { body } = await gateway.call('GET', `/jobs/${job.job_id}`);
      return body.status === 'done' ? body.result : undefined;
    });
    expect(done).toMatchObject({ total: 2, ok: 1, failed: 1, skipped: 0 });

    const raw = 'DOMAIN-REGEX,^a\\_b\\.example$,DIRECT';
    const refused = await gateway.call('POST', '/rules', { raw });
    expect(refused.status).toBe(422);
    expect(refused.body.details).toEqual([
      { field: 'raw', message: expect.stringMatching(/a\\_b.*kernel, mihomo \S+: /) },
    ]);
    const text = `DOMAIN,a.example,DIRECT\n${raw}\nGEOIP,CN,REJECT\nIP-ASN,13335,DIRECT`;
    const { body: imported } = await gateway.call('POST', '/rules/import', { text });
    expect(imported).toMatchObject({
      parsed: 3,
      failed: 1,
      errors: [{ line: 2, message: expect.stringContaining('mihomo') }],
    });
    const reloaded = await gateway.call('POST', '/system/reload');
    expect([reloaded.status, reloaded.body.warnings]).toEqual([200, []]);
  });
});

it("a mihomo server gets the embedded kernel's UDP over Trojan, and sends it to its target", async (context) => {
  const program = findPeer('mihomo') ?? context.skip('mihomo is not installed: npm run peers -- --go');
  const { certificate, key } = makeCertificate({ subject: 'trojan', names: ['trojan.test'] });
  const listener = {
    type: 'trojan',
    users: [{ username: 'u', password: 'secret' }],
    certificate,
    'private-key': key,
  };
  await using server = await startServer(program, listener);
  await using target = await startUdpEcho();
  const kernel = createProxyKernel({
    now: () => Date.now(),
    logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    resolver: createSystemResolver(),
    country: () => null,
  });
  try {
    const node = {
      type: 'trojan' as const,
      name: 'a label',
      server: '127.0.0.1',
      port: server.port,
      password: 'secret',
      tls: { skipCertVerify: true },
    };
    const { listeners } = await kernel.apply({
      mode: 'rule',
      listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
      outbounds: [{ tag: 'n1', node }],
      groups: [],
      rules: [],
      defaultPolicy: 'n1',
    });
    const datagrams = await datagramsThrough(listeners[0]!.port);
    for (const text of ['one', 'two']) {
      datagrams.send('127.0.0.1', target.port, text);
      await waitFor(() => datagrams.received.includes(text));
    }
    expect(target.received).toEqual(['one', 'two']);
    datagrams.close();
  } finally {
    await kernel.close();
  }
});

/** A Hysteria2 server, which makes its own certificate. */
function startHysteria(executable: string): Promise<AsyncDisposable & { port: number }> {
  const users = { one: 'secret', two: 'second' };
  return startServer(executable, { type: 'hysteria2', users, certificate: '', 'private-key': '' });
}

/** Another mihomo, with one listener. */
async function startServer(executable: string, listener: object): Promise<AsyncDisposable & { port: number }> {
  const server = new MihomoProgram({ executable, onExit: () => undefined });
  await server.start();
  const port = await reservePort();
  const listeners = [{ name: 'in', listen: '127.0.0.1', port, ...listener }];
  await server.api.load({ ...mihomoBasics(server.socket), listeners, rules: ['MATCH,DIRECT'] });
  return { port, [Symbol.asyncDispose]: () => server.stop() };
}
