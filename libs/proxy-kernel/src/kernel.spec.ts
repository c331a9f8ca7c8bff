import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ByteReader } from '@gatehouse/net';
import {
  KernelConfigError,
  createProxyKernel,
  type ConnectionRecord,
  type KernelConfig,
  type KernelEnvironment,
  type ProxyKernel,
  type RuleConfig,
  type TrafficDelta,
} from './index.js';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Running {
  kernel: ProxyKernel;
  records: ConnectionRecord[];
  deltas: TrafficDelta[];
}

function start(environment: Partial<KernelEnvironment> = {}): Running {
  const kernel = createProxyKernel({
    now: Date.now,
    logger: quiet,
    resolver: { resolve: () => Promise.resolve(['127.0.0.1']) },
    country: () => null,
    ...environment,
  });
  const records: ConnectionRecord[] = [];
  const deltas: TrafficDelta[] = [];
  kernel.on('closed', (record) => records.push(record));
  kernel.on('traffic', (delta) => deltas.push(delta));
  cleanups.push(() => kernel.close());
  return { kernel, records, deltas };
}

const mixed = { name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 } as const;

function config(override: Partial<KernelConfig> = {}): KernelConfig {
  return {
    mode: 'rule',
    listeners: [mixed],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
    ...override,
  };
}

function rule(type: RuleConfig['type'], payload: string, target: string, id = 1): RuleConfig {
  return { id, source: 'manual', type, payload, target };
}

async function portOf(kernel: ProxyKernel, override: Partial<KernelConfig> = {}): Promise<number> {
  const { listeners } = await kernel.apply(config(override));
  return listeners[0]?.port ?? 0;
}

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const startEcho = (): Promise<number> => listen((socket) => socket.pipe(socket));

/** SOCKS5 CONNECT; returns the socket and the reply code. */
async function socks(port: number, host: string, target: number): Promise<{ client: Socket; reply: number }> {
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => undefined);
  cleanups.push(() => client.destroy());
  const name = Buffer.from(host);
  client.write(
    Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, Buffer.from([target >> 8, target & 255])]),
  );
  const reader = new ByteReader(client);
  await reader.read(2);
  const reply = (await reader.read(10))[1] ?? -1;
  reader.restore();
  return { client, reply };
}

async function read(client: Socket, size: number): Promise<Buffer> {
  const reader = new ByteReader(client, 4 * 1024 * 1024);
  const bytes = Buffer.from(await reader.read(size));
  reader.restore();
  return bytes;
}

const until = (condition: () => boolean) => expect.poll(condition, { timeout: 8000 }).toBe(true);

describe('a configuration', () => {
  it('is applied as a whole, and reports the changes', async () => {
    const { kernel } = start();
    const first = await kernel.apply(config());
    expect(first).toMatchObject({
      generation: 1,
      previousGeneration: 0,
      droppedConnections: 0,
      changed: { listeners: 1 },
    });
    const next = config({
      rules: [rule('DOMAIN', 'a.b', 'DIRECT')],
      groups: [{ name: 'G', type: 'select', members: ['DIRECT'] }],
    });
    const second = await kernel.apply(next);
    expect(second.changed).toEqual({ nodes: 0, groups: 1, rules: 1, listeners: 0 });
    expect(second.listeners[0]?.port).toBe(first.listeners[0]?.port);
    const again = await kernel.apply(next);
    expect(again.changed).toEqual({ nodes: 0, groups: 0, rules: 0, listeners: 0 });
    expect(again.configHash).toBe(second.configHash);
    expect(kernel.status()).toMatchObject({ generation: 3, configHash: again.configHash });
  });

  const node = { type: 'socks5', name: 'x', server: 'h', port: 1 } as const;
  it.each<[string, Partial<KernelConfig>, string]>([
    [
      'an unsupported node',
      { outbounds: [{ tag: 'n1', node: { type: 'tuic', name: 'x', server: 'h', port: 1, options: {} } }] },
      'outbounds[0]',
    ],
    [
      'a tag used twice',
      {
        outbounds: [
          { tag: 'n1', node },
          { tag: 'n1', node },
        ],
      },
      'outbounds[1]',
    ],
    ['a built-in tag', { outbounds: [{ tag: 'DIRECT', node }] }, 'outbounds[0]'],
    ['a bad rule', { rules: [rule('IP-CIDR', 'not an address', 'DIRECT')] }, 'rules[0]'],
    [
      'groups in a circle',
      {
        groups: [
          { name: 'A', type: 'select', members: ['B'] },
          { name: 'B', type: 'select', members: ['A'] },
        ],
      },
      'groups[0]',
    ],
    ['two listeners of one name', { listeners: [mixed, { ...mixed, address: '127.0.0.2' }] }, 'listeners[1]'],
    [
      'an address that is not ours',
      { listeners: [mixed, { ...mixed, name: 'far', address: '192.0.2.1' }] },
      'listeners[1]',
    ],
  ])('with %s is refused, and the one before stays', async (_name, bad, path) => {
    const { kernel } = start();
    const port = await portOf(kernel);
    const before = kernel.status();
    const refused = await kernel.apply(config(bad)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(KernelConfigError);
    expect((refused as KernelConfigError).path).toContain(path);
    expect(kernel.status()).toMatchObject({
      generation: 1,
      configHash: before.configHash,
      listeners: before.listeners,
    });
    const { reply } = await socks(port, 'localhost', await startEcho());
    expect(reply).toBe(0);
  });

  it('with a taken port is refused with its address', async () => {
    const taken = await startEcho();
    const { kernel } = start();
    const refused = kernel.apply(config({ listeners: [{ ...mixed, port: taken }] }));
    await expect(refused).rejects.toThrow(`listeners[0]: 127.0.0.1:${taken} is in use`);
  });

  it('opens, moves and closes listeners', async () => {
    const echo = await startEcho();
    const { kernel } = start();
    const port = await portOf(kernel);
    const { client } = await socks(port, 'localhost', echo);
    // The same port on every address: the old listener is in its way.
    const wide = await kernel.apply(config({ listeners: [{ ...mixed, address: '0.0.0.0', port }] }));
    expect(wide.listeners).toMatchObject([{ address: '0.0.0.0', port, state: 'listening' }]);
    expect((await socks(port, 'localhost', echo)).reply).toBe(0);
    client.write('still here');
    expect(String(await read(client, 10))).toBe('still here');
    // Back again, next to one that cannot be bound: the wide one must be restored.
    const bad = [
      { ...mixed, port },
      { ...mixed, name: 'far', address: '192.0.2.1' },
    ];
    await expect(kernel.apply(config({ listeners: bad }))).rejects.toBeInstanceOf(KernelConfigError);
    expect((await socks(port, 'localhost', echo)).reply).toBe(0);
    await kernel.apply(config({ listeners: [] }));
    const [error] = await once(connect(port, '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    client.write('and here');
    expect(String(await read(client, 8))).toBe('and here');
  });

  it('can be changed under load without dropping connections', async () => {
    const size = 400_000;
    const body = randomBytes(size);
    const origin = await listen((socket) => socket.once('data', () => socket.end(body)));
    const { kernel, records } = start();
    const port = await portOf(kernel);
    let running = true;
    const reloads = (async () => {
      for (let turn = 0; running; turn += 1) {
        const groups = [{ name: 'G', type: 'select' as const, members: ['DIRECT'] }];
        await kernel.apply(config({ groups, defaultPolicy: 'G', rules: [rule('DOMAIN', `x${turn}.test`, 'G')] }));
        // Applying needs no turn of the event loop, but the downloads do.
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const downloads = Array.from({ length: 60 }, async () => {
      const { client } = await socks(port, 'localhost', origin);
      client.write('go');
      const bytes = await read(client, size);
      client.end();
      client.resume();
      return bytes.equals(body);
    });
    const whole = await Promise.all(downloads);
    running = false;
    await reloads;
    expect(whole.every(Boolean)).toBe(true);
    expect(kernel.status().generation).toBeGreaterThan(2);
    await until(() => records.length === 60);
    expect(records.every(({ status, download }) => status === 'ok' && download === size)).toBe(true);
  });
});

describe('a flow', () => {
  it('is shown while open and recorded once at its end', async () => {
    const echo = await startEcho();
    const { kernel, records } = start();
    const groups = [{ name: 'PROXY', type: 'select' as const, members: ['REJECT', 'DIRECT'], selected: 'DIRECT' }];
    const port = await portOf(kernel, { groups, rules: [rule('DOMAIN-SUFFIX', 'Example.com', 'PROXY', 7)] });
    const { client } = await socks(port, 'WWW.example.com.', echo);
    client.write('four');
    await read(client, 4);
    const [open] = kernel.connections();
    expect(open).toMatchObject({
      network: 'tcp',
      type: 'Socks5',
      host: 'www.example.com',
      destinationPort: echo,
      inboundName: 'mixed',
      sourceIp: '127.0.0.1',
      rule: { id: 7, target: 'PROXY' },
      chain: ['PROXY', 'DIRECT'],
      nodeTag: null,
      remoteDestination: '127.0.0.1',
      upload: 4,
      download: 4,
      state: 'open',
    });
    client.end();
    client.resume();
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({
      id: open?.id,
      status: 'ok',
      closeReason: 'client_closed',
      upload: 4,
      download: 4,
    });
    expect(kernel.connections()).toEqual([]);
    expect(kernel.status()).toMatchObject({ activeConnections: 0, openedTotal: 1, failedTotal: 0, uploadTotal: 4 });
  });

  it('that fails is recorded with stage and reason', async () => {
    const { kernel, records } = start({
      resolver: { resolve: (host) => (host === 'none.test' ? Promise.resolve([]) : Promise.resolve(['127.0.0.1'])) },
    });
    const port = await portOf(kernel);
    const closed = await listen(() => undefined);
    await cleanups.pop()?.();
    expect((await socks(port, 'localhost', closed)).reply).toBe(5);
    expect((await socks(port, 'none.test', 80)).reply).toBe(4);
    await until(() => records.length === 2);
    const { failedTotal, failuresByKind } = kernel.status();
    expect([failedTotal, failuresByKind]).toMatchObject([2, { connection_refused: 1, dns_error: 1, timeout: 0 }]);
    expect(records).toMatchObject([
      {
        status: 'failed',
        errorStage: 'dial',
        errorKind: 'connection_refused',
        errorErrno: 'ECONNREFUSED',
        closeReason: 'error',
      },
      { status: 'failed', errorStage: 'dns', errorKind: 'dns_error', closeReason: 'error' },
    ]);
    expect(kernel.status().failedTotal).toBe(2);
  });

  it('that is rejected is answered, and one that is dropped is not', async () => {
    const { kernel, records } = start({ timeouts: { drop: 50 } });
    const rules = [rule('DOMAIN', 'no.test', 'REJECT', 1), rule('DOMAIN', 'drop.test', 'REJECT-DROP', 2)];
    const port = await portOf(kernel, { rules });
    expect((await socks(port, 'no.test', 80)).reply).toBe(2);
    await expect(socks(port, 'drop.test', 80)).rejects.toMatchObject({ code: 'ended' });
    expect(records).toMatchObject([
      { status: 'rejected', closeReason: 'rejected', errorKind: null, chain: ['REJECT'] },
      { status: 'rejected', closeReason: 'rejected', chain: ['REJECT-DROP'] },
    ]);
  });

  it('that cannot be dialled in time is ended', async () => {
    const { kernel, records } = start({
      timeouts: { dial: 50 },
      resolver: { resolve: () => new Promise(() => undefined) },
    });
    const silent = await listen(() => undefined);
    const node = { type: 'socks5', name: 'x', server: '127.0.0.1', port: silent } as const;
    const rules = [rule('DOMAIN', 'silent-node.test', 'n1')];
    const port = await portOf(kernel, { outbounds: [{ tag: 'n1', node }], rules });
    expect((await socks(port, 'silent-node.test', 80)).reply).toBe(6);
    // A resolver that ignores its signal must not hold up a client.
    expect((await socks(port, 'silent-resolver.test', 80)).reply).toBe(6);
    expect(records).toMatchObject([
      { status: 'failed', errorKind: 'timeout', nodeTag: 'n1' },
      { status: 'failed', errorKind: 'timeout', nodeTag: null },
    ]);
  });

  it('whose client leaves during the dial is recorded then', async () => {
    const { kernel, records } = start({ resolver: { resolve: () => new Promise(() => undefined) } });
    const port = await portOf(kernel);
    const client = connect({ port, host: '127.0.0.1' });
    client.write(Buffer.from([5, 1, 0, 5, 1, 0, 3, 6, ...Buffer.from('a.test'), 0, 80]));
    await once(client, 'connect');
    await until(() => kernel.connections().length === 1);
    expect(kernel.connections()[0]?.state).toBe('dialing');
    client.resetAndDestroy();
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ status: 'ok', closeReason: 'client_closed' });
  });

  it('without a byte for too long ends as idle', async () => {
    const echo = await startEcho();
    const { kernel, records } = start({ timeouts: { idle: 30 } });
    const { client } = await socks(await portOf(kernel), 'localhost', echo);
    client.resume();
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ status: 'ok', closeReason: 'idle' });
  });

  it('can be closed from outside, open or still dialling', async () => {
    const echo = await startEcho();
    const { kernel, records } = start({
      resolver: {
        resolve: (host) => (host === 'slow.test' ? new Promise(() => undefined) : Promise.resolve(['127.0.0.1'])),
      },
    });
    const port = await portOf(kernel);
    await socks(port, 'localhost', echo);
    const dialling = socks(port, 'slow.test', 80).catch((error: unknown) => error);
    await until(() => kernel.connections().length === 2);
    const [first] = kernel.connections();
    expect(kernel.closeConnection(first?.id ?? '')).toBe(true);
    await until(() => records.length === 1);
    expect(kernel.closeConnection(first?.id ?? '')).toBe(false);
    expect(kernel.closeConnections()).toBe(1);
    expect(await dialling).toMatchObject({ code: 'ended' });
    await until(() => records.length === 2);
    expect(records.map(({ closeReason, status }) => [closeReason, status])).toEqual([
      ['user', 'ok'],
      ['user', 'ok'],
    ]);
  });

  it('follows a selection made while the kernel runs', async () => {
    const echo = await startEcho();
    const { kernel } = start();
    const groups = [{ name: 'G', type: 'select' as const, members: ['REJECT', 'DIRECT'] }];
    const port = await portOf(kernel, { groups, defaultPolicy: 'G' });
    expect((await socks(port, 'localhost', echo)).reply).toBe(2);
    kernel.select('G', 'DIRECT');
    expect((await socks(port, 'localhost', echo)).reply).toBe(0);
    expect(() => kernel.select('G', 'n9')).toThrow(KernelConfigError);
    expect(() => kernel.select('none', 'DIRECT')).toThrow(KernelConfigError);
  });

  it('to an address is routed by the name in its first bytes', async () => {
    const origin = await listen((socket) => socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n')));
    const { kernel, records } = start();
    const rules = [rule('DOMAIN', 'seen.test', 'DIRECT', 3)];
    const port = await portOf(kernel, {
      rules,
      defaultPolicy: 'REJECT',
      sniffing: { ports: [origin], timeoutMs: 2000 },
    });
    const { client, reply } = await socks(port, '127.0.0.1', origin);
    expect(reply).toBe(0);
    client.write('GET / HTTP/1.1\r\nHost: seen.test\r\n\r\n');
    expect(String(await read(client, 12))).toBe('HTTP/1.1 204');
    client.end();
    client.resume();
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({
      host: null,
      sniffHost: 'seen.test',
      destinationIp: '127.0.0.1',
      rule: { id: 3 },
    });
    // Without a name, and for a client that waits for the server, it continues by its address.
    const quietly = await socks(
      await portOf(kernel, { sniffing: { ports: [origin], timeoutMs: 10 } }),
      '127.0.0.1',
      origin,
    );
    quietly.client.resume();
    await until(() => kernel.connections().some(({ state }) => state === 'open'));
    expect(kernel.connections()[0]).not.toHaveProperty('sniffHost');
  });

  it('takes the route that testRoute returns', async () => {
    const echo = await startEcho();
    const { kernel } = start();
    const port = await portOf(kernel, {
      rules: [rule('DST-PORT', String(echo), 'DIRECT', 4)],
      defaultPolicy: 'REJECT',
    });
    await socks(port, 'localhost', echo);
    const [open] = kernel.connections();
    const traced = await kernel.testRoute({ ...open, destinationIp: null } as ConnectionRecord);
    expect([traced.rule, traced.chain]).toEqual([open?.rule, open?.chain]);
  });
});

describe('accounting', () => {
  it('emits deltas that add up to the records exactly', async () => {
    const action = fc.record({
      host: fc.constantFrom('ok.test', 'no.test', 'refused.test', 'localhost'),
      bytes: fc.integer({ min: 0, max: 300_000 }),
      abort: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 4 }),
        async (flows, samples) => {
          const { kernel, records, deltas } = start();
          const echo = await startEcho();
          const rules = [rule('DOMAIN', 'no.test', 'REJECT', 11), rule('DOMAIN', 'ok.test', 'DIRECT', 12)];
          const port = await portOf(kernel, { rules });
          const runs = flows.map(async ({ host, bytes, abort }) => {
            const { client, reply } = await socks(port, host, host === 'refused.test' ? 1 : echo);
            if (reply !== 0) return;
            client.write(randomBytes(bytes));
            if (abort) return client.resetAndDestroy();
            await (bytes > 0 ? read(client, bytes) : undefined);
            client.end();
            client.resume();
          });
          for (let turn = 0; turn < samples; turn += 1) {
            await new Promise((resolve) => setImmediate(resolve));
            sampleNow(kernel);
          }
          await Promise.all(runs);
          await until(() => records.length === flows.length);
          await kernel.close();
          expect(summed(deltas)).toEqual(fromRecords(records));
        },
      ),
      { numRuns: 15 },
    );
  });

  it('reports speeds of open flows, and no delta without traffic', async () => {
    const echo = await startEcho();
    const { kernel, deltas } = start();
    const { client } = await socks(await portOf(kernel), 'localhost', echo);
    client.write(randomBytes(50_000));
    await read(client, 50_000);
    sampleNow(kernel);
    expect(kernel.connections()[0]?.uploadSpeed).toBeGreaterThan(0);
    const count = deltas.length;
    sampleNow(kernel);
    expect(kernel.connections()[0]).toMatchObject({ uploadSpeed: 0, downloadSpeed: 0, upload: 50_000 });
    expect(deltas).toHaveLength(count);
  });
});

describe('closing', () => {
  it('gives open flows time to end, then closes and records them', async () => {
    const echo = await startEcho();
    const { kernel, records } = start();
    const port = await portOf(kernel);
    const quick = await socks(port, 'localhost', echo);
    await socks(port, 'localhost', echo);
    const closing = kernel.close(300);
    quick.client.end();
    quick.client.resume();
    await closing;
    expect(records.map(({ closeReason }) => closeReason).sort()).toEqual(['client_closed', 'shutdown']);
    await expect(kernel.apply(config())).rejects.toBeInstanceOf(KernelConfigError);
    const [error] = await once(connect(port, '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

/** Does what the one-second timer does. */
function sampleNow(kernel: ProxyKernel): void {
  (kernel as unknown as { sample(): void }).sample();
}

interface Sums {
  upload: number;
  download: number;
  outbounds: Record<string, { upload: number; download: number; opened: number; failed: number }>;
  hits: Record<string, number>;
}

function summed(deltas: TrafficDelta[]): Sums {
  const sums: Sums = { upload: 0, download: 0, outbounds: {}, hits: {} };
  for (const delta of deltas) {
    sums.upload += delta.upload;
    sums.download += delta.download;
    for (const [tag, moved] of Object.entries(delta.outbounds)) {
      const sum = (sums.outbounds[tag] ??= { upload: 0, download: 0, opened: 0, failed: 0 });
      for (const key of ['upload', 'download', 'opened', 'failed'] as const) sum[key] += moved[key];
    }
    for (const [id, { hits }] of Object.entries(delta.rules)) sums.hits[id] = (sums.hits[id] ?? 0) + hits;
  }
  return sums;
}

function fromRecords(records: ConnectionRecord[]): Sums {
  const sums: Sums = { upload: 0, download: 0, outbounds: {}, hits: {} };
  for (const { upload, download, chain, status, rule: matched } of records) {
    sums.upload += upload;
    sums.download += download;
    const tag = chain.at(-1);
    if (tag !== undefined) {
      const sum = (sums.outbounds[tag] ??= { upload: 0, download: 0, opened: 0, failed: 0 });
      sum.upload += upload;
      sum.download += download;
      sum.opened += 1;
      if (status === 'failed') sum.failed += 1;
    }
    if (matched?.id) sums.hits[matched.id] = (sums.hits[matched.id] ?? 0) + 1;
  }
  return sums;
}
