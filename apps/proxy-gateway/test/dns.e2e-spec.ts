import { Resolver } from 'node:dns/promises';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { startNameServer } from './support/name-server.js';
import { echo, socksTunnel } from './support/proxy-client.js';

const OFF = {
  'dns.listen': '',
  'dns.fake_ip': 'false',
  'dns.fake_ip_range': '198.18.0.0/16',
  'dns.fake_ip_filter': '',
  'dns.nameservers': '',
  'dns.hosts': '',
};

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());
afterEach(async () => {
  await set(OFF);
  await gateway.call('POST', '/rules/import?allow_empty=true', { mode: 'replace', rules: [] });
  await waitFor(async () => (await dnsListener()) === undefined);
});

async function set(settings: Record<string, string>): Promise<void> {
  const { status, body } = await gateway.call('PUT', '/settings', settings);
  expect(status, JSON.stringify(body)).toBe(200);
}

const dnsListener = async () => (await gateway.kernel.status()).listeners.find(({ type }) => type === 'dns');
const generation = async () => (await gateway.kernel.status()).generation;
const fakeIpsAre = (state: string) => waitFor(() => (gateway.kernel.config?.dns?.fakeIp ? 'on' : 'off') === state);

/** Asks the listener once it is open. */
async function resolver(): Promise<Resolver> {
  const { port } = await waitFor(dnsListener);
  const client = new Resolver({ timeout: 2000, tries: 2 });
  client.setServers([`127.0.0.1:${port}`]);
  return client;
}

describe('names that the proxy answers', () => {
  it('come from the settings as soon as they change', async () => {
    await set({ 'dns.listen': '127.0.0.1:0', 'dns.hosts': 'nas.home=192.168.1.5,fd00::5' });
    const client = await resolver();
    expect(await client.resolve4('nas.home')).toEqual(['192.168.1.5']);
    expect(await client.resolve6('nas.home')).toEqual(['fd00::5']);
    const { port } = (await dnsListener())!;
    const shown = await gateway.call('GET', '/system/status');
    expect(shown.body.kernel.listeners).toContainEqual({
      name: 'dns',
      type: 'dns',
      address: '127.0.0.1',
      port,
      state: 'listening',
      error: null,
    });
    await set({ 'dns.hosts': 'nas.home=192.168.1.6' });
    await waitFor(async () => (await client.resolve4('nas.home'))[0] === '192.168.1.6');
    expect((await dnsListener())?.port).toBe(port);
  });

  it('lead to a connection that rules and users see by its name', async () => {
    await using names = await startNameServer({ '+.test': ['127.0.0.1'] });
    await using target = await startTcpEcho();
    await gateway.call('POST', '/rules', { raw: 'DOMAIN-SUFFIX,blocked.test,REJECT' });
    await gateway.call('POST', '/rules', { raw: 'DOMAIN,shop.test,DIRECT' });
    await set({ 'dns.listen': ':0', 'dns.fake_ip': 'true', 'dns.nameservers': names.address });
    await fakeIpsAre('on');
    const client = await resolver();
    const [address = ''] = await client.resolve4('shop.test');
    expect(address).toMatch(/^198\.18\./);
    await expect(client.resolve6('shop.test')).rejects.toMatchObject({ code: 'ENODATA' });
    expect(await client.resolve4('localhost')).toEqual(['127.0.0.1']);

    const socket = await socksTunnel(gateway.proxyPort, address, target.port);
    expect(await echo(socket, 'hello')).toBe('hello');
    const open = (await gateway.call('GET', '/connections')).body.connections;
    expect(open).toMatchObject([
      { host: 'shop.test', dns_mode: 'fake-ip', rule: 'DOMAIN', rule_payload: 'shop.test', chains: ['DIRECT'] },
    ]);
    const [blocked = ''] = await client.resolve4('www.blocked.test');
    await expect(socksTunnel(gateway.proxyPort, blocked, target.port)).rejects.toThrow('SOCKS reply 2');
    expect((await gateway.call('POST', '/rules/test', { url: `https://${blocked}` })).body).toMatchObject({
      rule: { type: 'DOMAIN-SUFFIX', payload: 'blocked.test' },
    });

    const before = await generation();
    expect((await gateway.call('POST', '/system/reload')).status).toBe(200);
    await set({ 'dns.fake_ip_filter': '+.real.test' });
    await waitFor(async () => (await generation()) >= before + 2);
    expect(await client.resolve4('shop.test')).toEqual([address]);
    expect(await client.resolve4('a.real.test')).toEqual(['127.0.0.1']);
    const again = await socksTunnel(gateway.proxyPort, address, target.port);
    expect([await echo(again, 'again'), await echo(socket, 'still')]).toEqual(['again', 'still']);
    for (const each of [again, socket]) each.destroy();
  });

  it('are routed in tests of rules like a connection through the named listener', async () => {
    await set({ 'kernel.listen.socks': '127.0.0.1:0' });
    const socks = await waitFor(async () =>
      (await gateway.kernel.status()).listeners.find(({ name }) => name === 'socks'),
    );
    const target = async (body: object) =>
      (await gateway.call('POST', '/rules/test', { url: 'https://a.test', ...body })).body.rule?.payload;
    for (const raw of [
      `IN-PORT,${socks.port},REJECT`,
      'IN-NAME,mixed,REJECT',
      'SRC-IP-CIDR,10.0.0.0/8,REJECT',
      'NETWORK,udp,REJECT',
    ]) {
      // Each rule goes first.
      expect((await gateway.call('POST', '/rules', { raw, priority: 0 })).status).toBe(201);
    }
    await gateway.call('POST', '/system/reload');
    expect(await target({ inbound: 'socks' })).toBe(String(socks.port));
    expect(await target({})).toBe('mixed');
    await set({ 'kernel.listen.socks': '' });
  });

  it('refuse a port that is taken, change nothing, and follow the next change', async () => {
    await using taken = await startTcpEcho();
    await set({ 'dns.listen': '127.0.0.1:0', 'dns.hosts': 'nas.home=192.168.1.5' });
    const client = await resolver();
    const before = await dnsListener();
    const stored = (await gateway.call('GET', '/settings')).body;
    const place = `127.0.0.1:${taken.port}`;
    const refused = await gateway.call('PUT', '/settings', { 'dns.listen': place, 'dns.fake_ip': 'true' });
    expect([refused.status, refused.body.details]).toEqual([
      422,
      [{ field: 'dns.listen', message: `cannot be ${place}, which is in use: choose another port` }],
    ]);
    expect((await gateway.call('GET', '/settings')).body).toEqual(stored);
    expect((await gateway.call('GET', '/system/status')).body.kernel.last_error).toBeNull();
    expect(await dnsListener()).toEqual(before);
    expect(await client.resolve4('nas.home')).toEqual(['192.168.1.5']);
    const other = new Resolver();
    await set({ 'dns.listen': '127.0.0.2:0' });
    const { port } = await waitFor(async () => {
      const listener = await dnsListener();
      return listener?.address === '127.0.0.2' ? listener : undefined;
    });
    other.setServers([`127.0.0.2:${port}`]);
    expect(await other.resolve4('nas.home')).toEqual(['192.168.1.5']);
  });

  it.each([
    ['dns.listen', 'localhost:53', 'address:port'],
    ['dns.listen', '127.0.0.1', ':port'],
    ['dns.listen', '127.0.0.1:70000', ':port'],
    ['dns.fake_ip', 'yes', '"true" or "false"'],
    ['dns.fake_ip_range', '', 'IPv4 range'],
    ['dns.fake_ip_range', '198.18.0.0', 'IPv4 range of /8 to /29'],
    ['dns.fake_ip_range', 'fc00::/18', 'IPv4 range'],
    ['dns.fake_ip_range', '198.18.0.0/30', 'IPv4 range'],
    ['dns.fake_ip_filter', 'a..b', 'not a domain name'],
    ['dns.fake_ip_filter', '+.ok.test ba*d.test', '* stands for one whole label'],
    ['dns.hosts', 'a.test=1.1.1.1 a.test=2.2.2.2', 'each domain once: a.test'],
    ['dns.nameservers', '1.1.1.1 ftp://x', 'not a name server'],
  ])('are not set by %s = %j', async (key, value, reason) => {
    const refused = await gateway.call('PUT', '/settings', { 'dns.listen': ':0', [key]: value });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT', details: [{ field: key }] } });
    expect(refused.body.details[0].message).toContain(reason);
    expect((await gateway.call('GET', '/settings')).body['dns.listen']).toBe('');
  });
});
