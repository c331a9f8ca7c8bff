import { Resolver } from 'node:dns/promises';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { dnsWarnings } from './dns-listener.js';
import { ByteReader } from '@gatehouse/net';
import { createProxyKernel, parseRuleLine, type ConnectionRecord, type DnsConfig, type KernelConfig } from './index.js';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const base: DnsConfig = {
  nameservers: ['system'],
  hosts: { 'real.test': ['127.0.0.1'] },
  listen: { address: '127.0.0.1', port: 0 },
};
const FAKE = { range: '198.18.0.0/16' };
const mixed = { name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 } as const;

function config(dns: Partial<DnsConfig> = {}, part: Partial<KernelConfig> = {}, ...lines: string[]): KernelConfig {
  return {
    mode: 'rule',
    listeners: [mixed],
    outbounds: [],
    groups: [],
    rules: lines.map((line, id) => ({ id, source: 'manual', ...parseRuleLine(line) })),
    defaultPolicy: 'DIRECT',
    dns: { ...base, ...dns },
    ...part,
  };
}

function start() {
  const kernel = createProxyKernel({
    now: () => Date.now(),
    logger: quiet,
    // Every name resolves to this machine.
    resolver: { resolve: () => Promise.resolve(['127.0.0.1']) },
    country: () => null,
  });
  closers.push(() => kernel.close());
  const records: ConnectionRecord[] = [];
  kernel.on('closed', (record) => records.push(record));
  const portOf = (name: string) => kernel.status().listeners.find((each) => each.name === name)?.port ?? 0;
  const resolver = () => {
    const client = new Resolver({ timeout: 1000, tries: 1 });
    client.setServers([`127.0.0.1:${portOf('dns')}`]);
    return client;
  };
  return { kernel, records, portOf, resolver };
}

async function startEcho(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** SOCKS5 CONNECT to an address; returns the reply's code and the connection. */
async function socksTo(port: number, address: string, target: number): Promise<{ code: number; client: Socket }> {
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  closers.push(() => client.destroy());
  const ip = Buffer.from(address.split('.').map(Number));
  client.write(Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 1]), ip, Buffer.from([target >> 8, target & 255])]));
  const reader = new ByteReader(client);
  await reader.read(2);
  const code = (await reader.read(10))[1] ?? -1;
  reader.restore();
  return { code, client };
}

async function echoes(client: Socket, text = 'hello'): Promise<string> {
  client.write(text);
  const reader = new ByteReader(client);
  const bytes = await reader.read(text.length);
  return bytes.toString();
}

describe('names that clients ask the kernel for', () => {
  it('lead through an address that stands for the name to its rule', async () => {
    const { kernel, records, portOf, resolver } = start();
    const echo = await startEcho();
    const rules = ['DOMAIN-SUFFIX,refused.test,REJECT', 'IP-CIDR,198.18.0.0/15,REJECT', 'DOMAIN,a.named.test,DIRECT'];
    const dns = { hosts: {}, nameservers: [await nameServerOf('127.0.0.1')], fakeIp: FAKE };
    await kernel.apply(config(dns, {}, ...rules));
    expect(kernel.status().listeners.at(-1)).toMatchObject({ name: 'dns', type: 'dns', state: 'listening' });

    const [address = ''] = await resolver().resolve4('A.named.test');
    expect(address).toMatch(/^198\.18\./);
    await expect(resolver().resolve6('a.named.test')).rejects.toMatchObject({ code: 'ENODATA' });
    const { code, client } = await socksTo(portOf('mixed'), address, echo);
    expect([code, await echoes(client)]).toEqual([0, 'hello']);
    expect(kernel.connections()).toMatchObject([
      {
        host: 'a.named.test',
        fakeIp: true,
        rule: { type: 'DOMAIN', payload: 'a.named.test' },
        remoteDestination: '127.0.0.1',
      },
    ]);

    const [refused = ''] = await resolver().resolve4('www.refused.test');
    expect((await socksTo(portOf('mixed'), refused, echo)).code).toBe(2);
    await expect.poll(() => records.find(({ host }) => host === 'www.refused.test')?.status).toBe('rejected');
  });

  it('keep their port, their connections and the names behind addresses through a reload', async () => {
    const { kernel, portOf, resolver } = start();
    const echo = await startEcho();
    const nameservers = [await nameServerOf('127.0.0.1')];
    await kernel.apply(config({ nameservers, fakeIp: FAKE }, {}, 'MATCH,REJECT'));
    const port = portOf('dns');
    const open = connect(port, '127.0.0.1');
    closers.push(() => open.destroy());
    await once(open, 'connect');
    const [address = ''] = await resolver().resolve4('b.test');
    expect((await socksTo(portOf('mixed'), address, echo)).code).toBe(2);

    const filtered = { nameservers, fakeIp: { ...FAKE, filter: ['real.*'] }, hosts: { 'new.test': ['127.0.0.9'] } };
    const { changed } = await kernel.apply(config(filtered, {}, 'DOMAIN,b.test,DIRECT', 'MATCH,REJECT'));
    expect([changed.listeners, portOf('dns'), open.destroyed]).toEqual([0, port, false]);
    expect(await resolver().resolve4('new.test')).toEqual(['127.0.0.9']);
    const { code, client } = await socksTo(portOf('mixed'), address, echo);
    expect([code, await echoes(client)]).toEqual([0, 'hello']);
    expect(await resolver().resolve4('b.test')).toEqual([address]);
  });

  it('are no longer answered where the listener was, and are answered where it moved', async () => {
    const { kernel, portOf, resolver } = start();
    await kernel.apply(config());
    const before = resolver();
    expect(await before.resolve4('real.test')).toEqual(['127.0.0.1']);
    const { changed } = await kernel.apply(config({ listen: { address: '127.0.0.2', port: 0 } }));
    expect([changed.listeners, kernel.status().listeners.at(-1)?.address]).toEqual([1, '127.0.0.2']);
    await expect(before.resolve4('real.test')).rejects.toThrow();
    // The same port on every address, so the previous listener has to close first.
    const port = portOf('dns');
    await kernel.apply(config({ listen: { address: '0.0.0.0', port } }));
    expect(await resolver().resolve4('real.test')).toEqual(['127.0.0.1']);
    await kernel.apply(config({}, { dns: { nameservers: ['system'] } }));
    expect(kernel.status().listeners.map(({ name }) => name)).toEqual(['mixed']);
    const free = createSocket('udp4').bind(port, '127.0.0.1');
    await once(free, 'listening');
    free.close();
  });

  it('are answered as before if a change fails', async () => {
    const { kernel, portOf, resolver } = start();
    await kernel.apply(config());
    const port = portOf('dns');
    const taken = await startEcho();
    const bad: [Partial<DnsConfig>, Partial<KernelConfig>, string][] = [
      [{ listen: { address: '127.0.0.1', port: taken } }, {}, `dns.listen: 127.0.0.1:${taken} is in use`],
      [{ listen: { address: 'localhost', port: 0 } }, {}, 'dns.listen: "localhost" is not an address'],
      [{ listen: { address: '203.0.113.1', port: 0 } }, {}, 'cannot be bound (EADDRNOTAVAIL)'],
      [{ fakeIp: { range: '198.18.0.0/16', filter: ['a b'] } }, {}, 'dns.fakeIp.filter'],
      // The port moves to another address that overlaps the old one; then another listener cannot be bound.
      [
        { listen: { address: '0.0.0.0', port } },
        { listeners: [mixed, { ...mixed, name: 'x', port: taken }] },
        'listeners[1]',
      ],
    ];
    for (const [dns, part, message] of bad) {
      await expect(kernel.apply(config({ hosts: {}, ...dns }, part))).rejects.toThrow(message);
      expect(await resolver().resolve4('real.test'), message).toEqual(['127.0.0.1']);
      expect([portOf('dns'), kernel.status().listeners.at(-1)?.state]).toEqual([port, 'listening']);
    }
  });

  it('are answered once the address is free; the rest of the kernel works before', async () => {
    const { kernel, resolver, portOf } = start();
    const holder = createServer();
    holder.listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const dns = { listen: { address: '127.0.0.1', port } };
    const { warnings } = await kernel.apply(config(dns));
    expect(warnings).toEqual([`dns.listen: 127.0.0.1:${port} is in use`]);
    expect(kernel.status().listeners).toMatchObject([{ state: 'listening' }, { name: 'dns', state: 'failed', port }]);
    expect((await kernel.apply(config(dns))).warnings).toEqual(warnings);
    holder.close();
    await expect
      .poll(() => kernel.status().listeners[1], { timeout: 8000 })
      .toMatchObject({ state: 'listening', port });
    expect([await resolver().resolve4('real.test'), portOf('dns')]).toEqual([['127.0.0.1'], port]);
  });

  it('fail if the name behind an address is unknown, unless the client sends it', async () => {
    const { kernel, records, portOf } = start();
    const echo = await startEcho();
    const dns = { nameservers: [await nameServerOf('127.0.0.1')], fakeIp: FAKE };
    const sniffing = { ports: [echo], timeoutMs: 2000 };
    await kernel.apply(config(dns, { sniffing: false }));
    expect((await socksTo(portOf('mixed'), '198.18.77.77', echo)).code).toBe(4);
    await expect.poll(() => records.length).toBe(1);
    expect(records[0]).toMatchObject({ status: 'failed', errorStage: 'dns', destinationIp: '198.18.77.77' });

    await kernel.apply(config(dns, { sniffing }));
    const { client } = await socksTo(portOf('mixed'), '198.18.77.77', echo);
    expect(await echoes(client, 'GET / HTTP/1.1\r\nHost: said.test\r\n\r\n')).toContain('said.test');
    expect(kernel.connections()).toMatchObject([{ host: 'said.test', fakeIp: true }]);
  });

  it('come with a warning if the system would ask the kernel, which asks the system', async () => {
    expect((await start().kernel.apply(config())).warnings).toEqual([]);
    const own = ['9.9.9.9', '127.0.0.1:5353'];
    const everywhere = { ...base, listen: { address: '0.0.0.0', port: 5353 } };
    const warned = (dns: DnsConfig, servers: string[]) => dnsWarnings(dns, 5353, servers).length;
    expect(dnsWarnings(base, 5353, own)).toEqual([expect.stringContaining('set name servers by address')]);
    expect(warned({ ...base, nameservers: ['1.1.1.1'], policy: { a: ['system'] } }, own)).toBe(1);
    expect(warned(everywhere, own)).toBe(1);
    expect(warned(everywhere, ['9.9.9.9:5353'])).toBe(0);
    expect(warned({ ...base, nameservers: ['1.1.1.1'] }, own)).toBe(0);
    expect(warned(base, ['127.0.0.1', '9.9.9.9:5353'])).toBe(0);
  });
});

/** A name server that gives every name the same answer: another kernel with fixed answers. */
async function nameServerOf(address: string): Promise<string> {
  const { kernel, portOf } = start();
  await kernel.apply(config({ hosts: { '+.test': [address] } }, { listeners: [] }));
  return `127.0.0.1:${portOf('dns')}`;
}
