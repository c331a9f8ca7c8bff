import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createSocket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { ByteReader } from '@gatehouse/net';
import { createProxyKernel, createSystemResolver, type ConnectionRecord, type KernelConfig } from '../index.js';
import type { GuardConfig, RuleConfig } from '../index.js';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const SUCCEEDED = 0;
const NOT_ALLOWED = 2;

interface Proxy {
  port: number;
  records: ConnectionRecord[];
}

type Part = Omit<Partial<KernelConfig>, 'guard'> & { guard: Partial<GuardConfig> };

async function startProxy({ guard, ...config }: Part, names: Record<string, string[]> = {}): Promise<Proxy> {
  const system = createSystemResolver();
  const kernel = createProxyKernel({
    now: Date.now,
    logger: quiet,
    timeouts: { dial: 1_000 },
    resolver: { resolve: (host) => (names[host] ? Promise.resolve(names[host]) : system.resolve(host)) },
    country: () => null,
  });
  endings.push(() => kernel.close());
  const records: ConnectionRecord[] = [];
  kernel.on('closed', (record) => records.push(record));
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
    guard: { own: [], refusePrivate: false, ...guard },
    ...config,
  });
  return { port: listeners[0]!.port, records };
}

/** Listens on every address of the machine, like a service bound to `0.0.0.0` or `[::]`, and counts connections. */
async function startService(address = '::'): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  endings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server.listen(0, address), 'listening');
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** The reply of SOCKS5 CONNECT to a name, which is sent as it is written. */
async function ask({ port }: Proxy, host: string, target: number): Promise<number> {
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  endings.push(() => client.destroy());
  const name = Buffer.from(host);
  const end = Buffer.from([target >> 8, target & 255]);
  client.write(Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, end]));
  const reader = new ByteReader(client);
  await reader.read(2);
  return (await reader.read(10))[1] ?? -1;
}

const rule = (type: RuleConfig['type'], payload: string, target = 'DIRECT'): RuleConfig => ({
  id: 1,
  source: 'manual',
  type,
  payload,
  target,
});

const lan = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
  .map(({ address }) => address);

describe('own services', () => {
  it('cannot be reached by any spelling of this machine', async () => {
    const service = await startService();
    const names = { 'rebound.example': ['127.0.0.1'], 'mixed.example': ['203.0.113.9', '::ffff:127.0.0.1'] };
    const proxy = await startProxy({ guard: { own: [{ host: '*', port: service.port }] } }, names);
    const addresses = '127.0.0.1 127.0.0.2 127.255.255.254 0.0.0.0 ::1 :: ::ffff:127.0.0.1 ::ffff:0.0.0.0';
    const written = 'localhost LOCALHOST localhost. foo.localhost 127.0.0.1. 127.1 0x7f.0.0.1 2130706433';
    const resolved = 'rebound.example mixed.example';
    const mapped = lan.filter((ip) => !ip.includes(':')).map((ip) => `::ffff:${ip}`);
    const spellings = [addresses, written, resolved].flatMap((text) => text.split(' ')).concat(lan, mapped);
    for (const host of spellings) {
      // Some systems do not resolve numbers that are not dotted quads; then there is nothing to refuse.
      expect([NOT_ALLOWED, 4], host).toContain(await ask(proxy, host, service.port));
    }
    expect(await ask(proxy, '127.0.0.1', service.port)).toBe(NOT_ALLOWED);
    expect(await ask(proxy, 'localhost', service.port)).toBe(NOT_ALLOWED);
    expect(service.connections()).toBe(0);
    const [record] = proxy.records;
    expect(record).toMatchObject({
      status: 'rejected',
      errorMessage: expect.stringMatching(/service of this platform/),
    });
  });

  it('allows other ports of this machine', async () => {
    const [service, other] = [await startService(), await startService()];
    const proxy = await startProxy({ guard: { own: [{ host: '*', port: service.port }] } });
    await expect(ask(proxy, '127.0.0.1', other.port)).resolves.toBe(SUCCEEDED);
    await expect(ask(proxy, '127.0.0.1', service.port)).resolves.toBe(NOT_ALLOWED);
  });

  it.each(['global', 'direct'] as const)('cannot be reached in the mode %s either', async (mode) => {
    const service = await startService();
    const proxy = await startProxy({ mode, guard: { own: [{ host: '127.0.0.1', port: service.port }] } });
    await expect(ask(proxy, '127.0.0.1', service.port)).resolves.toBe(NOT_ALLOWED);
  });

  it('may be set by name: then its addresses are refused, and those of this machine too if it is one of them', async () => {
    const service = await startService();
    const names = { postgres: ['127.0.0.1'], alias: ['127.0.0.3'] };
    const proxy = await startProxy({ guard: { own: [{ host: 'postgres', port: service.port }] } }, names);
    for (const host of ['postgres', 'alias', '127.0.0.1', '0.0.0.0', '::1']) {
      await expect(ask(proxy, host, service.port), host).resolves.toBe(NOT_ALLOWED);
    }
  });

  it('are opened by a manual rule that names address and port and matches the flow', async () => {
    const service = await startService();
    const guard = { own: [{ host: '*', port: service.port }] };
    const naming = rule('AND', `((IP-CIDR,127.0.0.1/32,no-resolve),(DST-PORT,${service.port}))`);
    const open = await startProxy({ guard, rules: [naming] });
    await expect(ask(open, '127.0.0.1', service.port)).resolves.toBe(SUCCEEDED);
    await expect(ask(open, '127.0.0.2', service.port)).resolves.toBe(NOT_ALLOWED);
    const byName = rule('AND', `((DOMAIN,localhost),(DST-PORT,${service.port}))`);
    await expect(ask(await startProxy({ guard, rules: [byName] }), 'localhost', service.port)).resolves.toBe(SUCCEEDED);
    for (const rules of [
      [rule('IP-CIDR', '127.0.0.0/8')],
      [rule('IP-CIDR', '127.0.0.1/32')],
      [rule('DST-PORT', String(service.port))],
      [rule('AND', `((IP-CIDR,127.0.0.0/8),(DST-PORT,${service.port}))`)],
      [rule('AND', `((SRC-IP-CIDR,127.0.0.1/32),(DST-PORT,${service.port}))`)],
      [rule('OR', `((IP-CIDR,127.0.0.1/32),(DST-PORT,${service.port}))`)],
      [rule('MATCH', '')],
      [{ ...naming, source: 'subscription' as const }],
      [rule('IP-CIDR', '127.0.0.0/8'), naming],
    ]) {
      const proxy = await startProxy({ guard, rules });
      await expect(ask(proxy, '127.0.0.1', service.port), JSON.stringify(rules)).resolves.toBe(NOT_ALLOWED);
    }
  });

  it('are not opened by a rule with a name that leads to them', async () => {
    const service = await startService();
    const rules = [rule('AND', `((DOMAIN,rebound.example),(DST-PORT,${service.port}))`)];
    const guard = { own: [{ host: '*', port: service.port }] };
    const proxy = await startProxy({ guard, rules }, { 'rebound.example': ['127.0.0.1'] });
    await expect(ask(proxy, 'rebound.example', service.port)).resolves.toBe(NOT_ALLOWED);
  });

  it('cannot be servers of nodes', async () => {
    const service = await startService();
    const node = { type: 'http', name: 'n', server: '127.0.0.1', port: service.port } as const;
    const proxy = await startProxy({
      guard: { own: [{ host: '*', port: service.port }] },
      outbounds: [{ tag: 'n1', node }],
      defaultPolicy: 'n1',
    });
    expect(await ask(proxy, 'example.com', 80)).not.toBe(SUCCEEDED);
    expect(service.connections()).toBe(0);
  });

  it('receive no datagrams', async () => {
    const received: string[] = [];
    const sockets = await Promise.all([udp((text) => received.push(text)), udp((text) => received.push(text))]);
    const [own, other] = sockets.map((socket) => socket.address().port) as [number, number];
    const proxy = await startProxy({ guard: { own: [{ host: '*', port: own }] } });
    const relay = await associate(proxy);
    relay('127.0.0.1', own, 'to the own service');
    relay('127.0.0.1', other, 'to another');
    await expect.poll(() => received).toEqual(['to another']);
  });
});

describe('private targets', () => {
  it('are refused if configured, unless a rule names their network', async () => {
    const service = await startService();
    const guard = { refusePrivate: true };
    const names = { 'nas.example': ['127.0.0.1'] };
    const closed = await startProxy({ guard, rules: [rule('MATCH', '')] }, names);
    for (const host of ['127.0.0.1', '::1', '0.0.0.0', 'localhost', 'nas.example']) {
      await expect(ask(closed, host, service.port), host).resolves.toBe(NOT_ALLOWED);
    }
    for (const host of ['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '10.0.0.1', '192.168.1.1', 'fe80::1']) {
      await expect(ask(closed, host, 9), host).resolves.toBe(NOT_ALLOWED);
    }
    const open = await startProxy({ guard, rules: [rule('IP-CIDR', '127.0.0.0/8')] }, names);
    await expect(ask(open, '127.0.0.1', service.port)).resolves.toBe(SUCCEEDED);
    await expect(ask(open, '::1', service.port)).resolves.toBe(NOT_ALLOWED);
    const bySubscription = [{ ...rule('IP-CIDR', '127.0.0.0/8'), source: 'subscription' as const }];
    await expect(ask(await startProxy({ guard, rules: bySubscription }), '127.0.0.1', service.port)).resolves.toBe(
      NOT_ALLOWED,
    );
  });

  it('are opened by a name in a private network, but not on this machine or at a metadata service', async () => {
    const guard = { refusePrivate: true };
    const names = { 'nas.example': ['127.0.0.1'], 'meta.example': ['169.254.169.254'] };
    const rules = [rule('DOMAIN-SUFFIX', 'example')];
    const service = await startService();
    const proxy = await startProxy({ guard, rules }, names);
    await expect(ask(proxy, 'nas.example', service.port)).resolves.toBe(NOT_ALLOWED);
    await expect(ask(proxy, 'meta.example', 80)).resolves.toBe(NOT_ALLOWED);
    // Nothing listens there; what counts is that a connection was tried.
    const tried = await startProxy({ guard, rules }, { 'nas.example': ['10.255.255.1'] });
    expect(await ask(tried, 'nas.example', 9)).not.toBe(NOT_ALLOWED);
  });
});

describe('a client that wants public targets only', () => {
  async function status(proxy: Proxy, authority: string, field: string): Promise<string> {
    const client = connect({ port: proxy.port, host: '127.0.0.1' });
    client.on('error', () => undefined);
    endings.push(() => client.destroy());
    client.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${field}\r\n`);
    const [line = ''] = (await new ByteReader(client).readThrough(Buffer.from('\r\n'))).toString().split('\r\n');
    return line.split(' ')[1] ?? '';
  }
  const FIELD = 'Gatehouse-Targets: public\r\n';

  it('gets no address of this machine or its networks, whatever the rules are', async () => {
    const service = await startService();
    const names = { 'rebound.example': ['127.0.0.1'], 'mixed.example': ['8.8.8.8', '127.0.0.1'] };
    const rules = [rule('IP-CIDR', '127.0.0.0/8'), rule('MATCH', '')];
    const proxy = await startProxy({ guard: {}, rules }, names);
    const inside = 'localhost localhost. foo.localhost 127.0.0.1 127.0.0.2 0.0.0.0 [::1] [::ffff:127.0.0.1]';
    for (const host of `${inside} rebound.example mixed.example`.split(' ')) {
      await expect(status(proxy, `${host}:${service.port}`, FIELD), host).resolves.toBe('403');
    }
    expect(service.connections()).toBe(0);
    await expect(status(proxy, `localhost:${service.port}`, '')).resolves.toBe('200');
  });
});

async function udp(received: (text: string) => void) {
  const socket = createSocket('udp4', (payload) => received(payload.toString()));
  endings.push(() => socket.close());
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return socket;
}

/** SOCKS5 UDP ASSOCIATE; returns a function that sends a datagram through it. */
async function associate({ port }: Proxy): Promise<(host: string, target: number, text: string) => void> {
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  endings.push(() => client.destroy());
  client.write(Buffer.from([5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
  const reader = new ByteReader(client);
  await reader.read(2);
  const relay = Buffer.from(await reader.read(10)).readUInt16BE(8);
  const socket = createSocket('udp4');
  endings.push(() => socket.close());
  return (host, target, text) => {
    const head = Buffer.from([0, 0, 0, 1, ...host.split('.').map(Number), target >> 8, target & 255]);
    socket.send(Buffer.concat([head, Buffer.from(text)]), relay, '127.0.0.1');
  };
}
