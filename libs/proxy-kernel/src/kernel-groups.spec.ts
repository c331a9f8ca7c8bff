import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ByteReader } from '@gatehouse/net';
import {
  createProxyKernel,
  type CircuitChanged,
  type ConnectionMetadata,
  type ConnectionRecord,
  type GroupConfig,
  type GroupSwitched,
  type KernelConfig,
  type ProxyKernel,
} from './index.js';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const mixed = { name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 } as const;
const empty: KernelConfig = {
  mode: 'rule',
  listeners: [mixed],
  outbounds: [],
  groups: [],
  rules: [],
  defaultPolicy: 'DIRECT',
};

interface Running {
  kernel: ProxyKernel;
  port: number;
  switches: GroupSwitched[];
  circuits: CircuitChanged[];
  records: ConnectionRecord[];
  clock: { offset: number };
}

async function start(config: Partial<KernelConfig> = {}): Promise<Running> {
  const clock = { offset: 0 };
  const now = (): number => Date.now() + clock.offset;
  const kernel = createProxyKernel({ now, logger: quiet, resolver, country: () => null });
  const running = {
    switches: [] as GroupSwitched[],
    circuits: [] as CircuitChanged[],
    records: [] as ConnectionRecord[],
  };
  kernel.on('switched', (change) => running.switches.push(change));
  kernel.on('circuit', (change) => running.circuits.push(change));
  kernel.on('closed', (record) => running.records.push(record));
  cleanups.push(() => kernel.close());
  const { listeners } = await kernel.apply({ ...empty, ...config });
  return { kernel, port: listeners[0]?.port ?? 0, clock, ...running };
}

async function listen(server: Server, port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const startEcho = (): Promise<number> => listen(createServer((socket) => socket.pipe(socket)));

/** A node that forwards to a target and can be stopped and started. It keeps its port, which another program might take. */
class Gate {
  port = 0;
  private alive = true;
  private readonly target: number;
  private readonly sockets = new Set<Socket>();

  constructor(target: number) {
    this.target = target;
  }

  async start(): Promise<this> {
    this.port = await listen(createServer((socket) => (this.alive ? this.forward(socket) : socket.resetAndDestroy())));
    return this;
  }

  live(): void {
    this.alive = true;
  }

  die(): void {
    this.alive = false;
    for (const socket of this.sockets) socket.destroy();
  }

  private forward(socket: Socket): void {
    const onward = connect(this.target, '127.0.0.1');
    for (const end of [socket, onward]) {
      this.sockets.add(end);
      end.on('error', () => undefined).on('close', () => this.sockets.delete(end));
    }
    socket.pipe(onward).pipe(socket);
  }
}

async function nodes(count: number): Promise<{ gates: Gate[]; outbounds: KernelConfig['outbounds'] }> {
  const far = await start();
  const gates: Gate[] = [];
  for (let index = 0; index < count; index += 1) gates.push(await new Gate(far.port).start());
  const outbounds = gates.map(({ port }, index) => ({
    tag: `n${index + 1}`,
    node: { type: 'socks5', name: `node ${index + 1}`, server: '127.0.0.1', port } as const,
  }));
  return { gates, outbounds };
}

/** SOCKS5 CONNECT and one byte there and back. Returns whether it succeeded. */
async function visit(port: number, host: string, target: number): Promise<boolean> {
  const client = connect({ port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  const name = Buffer.from(host);
  const head = Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]);
  client.write(Buffer.concat([head, name, Buffer.from([target >> 8, target & 255])]));
  const reader = new ByteReader(client);
  try {
    await reader.read(2);
    if ((await reader.read(10))[1] !== 0) return false;
    client.write('x');
    return (await reader.read(1)).toString() === 'x';
  } catch {
    return false;
  } finally {
    reader.detach();
    client.destroy();
  }
}

const alive = (delayMs: number, testedAt = Date.now()) => ({ alive: true, delayMs, testedAt });
const group = (type: GroupConfig['type'], more: Partial<GroupConfig> = {}): GroupConfig => ({
  name: 'G',
  type,
  members: ['n1', 'n2'],
  ...more,
});
const flow = (host: string, port: number): ConnectionMetadata => ({
  network: 'tcp',
  type: 'Socks5',
  sourceIp: '127.0.0.1',
  sourcePort: 1,
  inboundName: 'mixed',
  inboundUser: null,
  host,
  destinationIp: null,
  destinationPort: port,
});
const until = (condition: () => boolean | Promise<boolean>) =>
  expect.poll(condition, { timeout: 8000, interval: 10 }).toBe(true);

describe('a url-test group in a kernel', () => {
  it('leaves a node after failed dials, and tries it again when it is back', async () => {
    const echo = await startEcho();
    const { gates, outbounds } = await nodes(2);
    const groups = [group('url-test')];
    const { kernel, port, switches, circuits, records, clock } = await start({ outbounds, groups, defaultPolicy: 'G' });
    kernel.setHealth(null, { n1: alive(10), n2: alive(400) });
    expect(await visit(port, 'localhost', echo)).toBe(true);
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ status: 'ok', chain: ['G', 'n1'] });

    gates[0]?.die();
    for (let index = 0; index < 5; index += 1) expect(await visit(port, 'localhost', echo)).toBe(false);
    await until(() => circuits.length === 1);
    expect(circuits).toMatchObject([{ tag: 'n1', open: true, failures: 5 }]);
    expect(switches).toMatchObject([{ group: 'G', from: 'n1', to: 'n2', reason: 'dead' }]);
    expect(await visit(port, 'localhost', echo)).toBe(true);
    expect(kernel.groups()).toMatchObject([{ name: 'G', now: 'n2', fixed: false }]);

    // Its pause has ended, but it is still dead: one flow finds out, and the next uses the other node.
    clock.offset += 31_000;
    await until(async () => (await kernel.testRoute(flow('localhost', echo))).outbound === 'n1');
    expect(await visit(port, 'localhost', echo)).toBe(false);
    expect(await visit(port, 'localhost', echo)).toBe(true);
    expect(circuits).toHaveLength(1);

    gates[0]?.live();
    clock.offset += 31_000;
    await until(async () => (await kernel.testRoute(flow('localhost', echo))).outbound === 'n1');
    expect(await visit(port, 'localhost', echo)).toBe(true);
    await until(() => circuits.length === 2);
    expect(circuits[1]).toMatchObject({ tag: 'n1', open: false });
    expect(switches.at(-1)).toMatchObject({ from: 'n2', to: 'n1', reason: 'faster' });
  });

  it('also comes back after a measurement', async () => {
    const echo = await startEcho();
    const { gates, outbounds } = await nodes(2);
    const { kernel, port, switches } = await start({ outbounds, groups: [group('fallback')], defaultPolicy: 'G' });
    gates[0]?.die();
    for (let index = 0; index < 5; index += 1) await visit(port, 'localhost', echo);
    await until(() => switches.length === 1);
    gates[0]?.live();
    kernel.setHealth(null, { n1: alive(5, Date.now() + 1000) });
    expect(switches).toMatchObject([
      { to: 'n2', reason: 'dead' },
      { to: 'n1', reason: 'recovered' },
    ]);
    expect(await visit(port, 'localhost', echo)).toBe(true);
  });

  it('keeps its member and its open connections through reloads', async () => {
    const echo = await startEcho();
    const { outbounds } = await nodes(2);
    const config = { outbounds, groups: [group('url-test')], defaultPolicy: 'G' };
    const { kernel, port, switches, records } = await start(config);
    kernel.setHealth(null, { n1: alive(500), n2: alive(20) });
    const client = connect({ port, host: '127.0.0.1' });
    cleanups.push(() => client.destroy());
    client.write(Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, echo >> 8, echo & 255]));
    const reader = new ByteReader(client);
    await reader.read(12);
    for (let turn = 0; turn < 5; turn += 1) {
      const rules = [{ id: turn, source: 'manual', type: 'DOMAIN', payload: `a${turn}.b`, target: 'G' }] as const;
      const applied = await kernel.apply({ ...empty, ...config, rules: [...rules] });
      expect(applied.droppedConnections).toBe(0);
    }
    expect(kernel.groups()[0]?.now).toBe('n2');
    expect(switches).toMatchObject([{ from: 'n1', to: 'n2', reason: 'faster' }]);
    client.write('still here');
    expect((await reader.read(10)).toString()).toBe('still here');
    expect(records).toHaveLength(0);
    await kernel.apply({ ...empty, ...config, outbounds: outbounds.slice(0, 1) });
    expect(switches.at(-1)).toMatchObject({ from: 'n2', to: 'n1', reason: 'selected_gone' });
  });

  it('follows a choice and takes it back', async () => {
    const { outbounds } = await nodes(2);
    const { kernel, switches } = await start({
      outbounds,
      groups: [group('url-test'), group('load-balance', { name: 'B' })],
    });
    kernel.select('G', 'n2');
    expect(kernel.groups()[0]).toMatchObject({ now: 'n2', fixed: true });
    kernel.select('G', 'n2');
    kernel.select('G', null);
    expect(switches).toMatchObject([
      { to: 'n2', reason: 'manual' },
      { to: 'n1', reason: 'manual' },
    ]);
    expect(() => kernel.select('B', 'n1')).toThrow('no choice');
  });
});

describe('does not count against a node', () => {
  it('if a target refuses, a proxy denies, a policy rejects or a client leaves', async () => {
    const { outbounds } = await nodes(1);
    const groups = [group('fallback', { members: ['n1', 'DIRECT'] })];
    const { kernel, port, circuits, records } = await start({ outbounds, groups, defaultPolicy: 'G' });
    const gone = createServer();
    const refused = await listen(gone);
    gone.close();
    for (let index = 0; index < 8; index += 1) expect(await visit(port, 'localhost', refused)).toBe(false);
    await until(() => records.length === 8);
    expect(records[0]).toMatchObject({ errorStage: 'handshake', errorKind: 'connection_refused' });
    const answers403 = createHttpServer().on('connect', (_request, socket) => socket.end('HTTP/1.1 403 No\r\n\r\n'));
    const node = { type: 'http', name: 'strict', server: '127.0.0.1', port: await listen(answers403) } as const;
    await kernel.apply({ ...empty, outbounds: [{ tag: 'n1', node }], groups, defaultPolicy: 'G' });
    for (let index = 0; index < 8; index += 1) expect(await visit(port, 'localhost', refused)).toBe(false);
    await until(() => records.length === 16);
    expect(records[15]).toMatchObject({ errorStage: 'handshake', chain: ['G', 'n1'] });
    await kernel.apply({ ...empty, outbounds, groups, defaultPolicy: 'REJECT' });
    for (let index = 0; index < 8; index += 1) expect(await visit(port, 'localhost', refused)).toBe(false);
    expect(circuits).toEqual([]);
    expect(kernel.groups()[0]?.now).toBe('n1');
  });
});

describe('a chain', () => {
  it('whose hop dies counts against the hop, and uses another', async () => {
    const echo = await startEcho();
    const { gates, outbounds } = await nodes(2);
    const far = await start();
    const last = { type: 'socks5', name: 'last', server: '127.0.0.1', port: far.port } as const;
    const { port, circuits, switches, records } = await start({
      outbounds: [...outbounds, { tag: 'n9', node: last, dialer: 'G' }],
      groups: [group('fallback')],
      defaultPolicy: 'n9',
    });
    expect(await visit(port, 'localhost', echo)).toBe(true);
    gates[0]?.die();
    for (let index = 0; index < 5; index += 1) expect(await visit(port, 'localhost', echo)).toBe(false);
    await until(() => switches.length === 1);
    expect(circuits).toMatchObject([{ tag: 'n1', open: true }]);
    expect(await visit(port, 'localhost', echo)).toBe(true);
    await until(() => records.length === 7);
  });
});

describe('a load-balance group in a kernel', () => {
  it.each(['round-robin', 'consistent-hashing', 'sticky-sessions'] as const)(
    'by %s takes what a test of the route shows',
    async (strategy) => {
      const echo = await startEcho();
      const { outbounds } = await nodes(3);
      const members = ['n1', 'n2', 'n3'];
      const groups = [group('load-balance', { strategy, members })];
      const { kernel, port, records } = await start({ outbounds, groups, defaultPolicy: 'G' });
      const shown: string[][] = [];
      for (const host of ['a.test', 'b.test', 'c.test', 'x.a.test', 'd.test', 'e.test']) {
        shown.push((await kernel.testRoute(flow(host, echo))).chain);
        expect(await visit(port, host, echo)).toBe(true);
        await until(() => records.length === shown.length);
      }
      expect(records.map(({ chain }) => chain)).toEqual(shown);
      expect(new Set(shown.flat()).size).toBeGreaterThan(2);
      if (strategy === 'round-robin') expect(shown.map((chain) => chain[1])).toEqual([...members, ...members]);
      else expect(shown[3]).toEqual(shown[0]);
    },
  );
});
