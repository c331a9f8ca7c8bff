import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProxyNode } from '@gatehouse/contracts';
import { ByteReader, type ByteStream } from '@gatehouse/net';
import {
  KernelConfigError,
  createProxyKernel,
  type ConnectionRecord,
  type DialStage,
  type KernelConfig,
  type OutboundConfig,
  type PacketConnection,
  type ProxyKernel,
} from './index.js';
import { findDialCycle } from './dialers.js';
import { compileGeneration } from './generation.js';
import { HealthTracker } from './health/index.js';
import { createOutbound } from './registry.js';
import { createChainDialer, fixedHop } from './transport/chain-dialer.js';
import { createDirectDialer } from './transport/server-dialer.js';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) };
const environment = { now: Date.now, logger: quiet, resolver, country: () => null };
const direct = createDirectDialer(resolver);
const health = new HealthTracker(Date.now, { circuit: () => undefined, changed: () => undefined });

let kernels: ProxyKernel[] = [];
let servers: Server[] = [];
let udpSockets: UdpSocket[] = [];

beforeEach(() => {
  kernels = [];
  servers = [];
  udpSockets = [];
});
afterEach(async () => {
  await Promise.all(kernels.map((kernel) => kernel.close()));
  for (const server of servers) server.close();
  for (const socket of udpSockets) socket.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function echo(): Promise<number> {
  return listen(createServer((socket) => void socket.on('error', () => undefined).pipe(socket)));
}

async function udpEcho(): Promise<number> {
  const socket = createSocket('udp4');
  udpSockets.push(socket);
  socket.on('message', (bytes, { address, port }) => socket.send(bytes, port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket.address().port;
}

/** A proxy for others: a kernel with one open listener and no node. */
interface Proxy {
  port: number;
  records: ConnectionRecord[];
}

async function start(config: Partial<KernelConfig>): Promise<Proxy & { kernel: ProxyKernel }> {
  const kernel = createProxyKernel(environment);
  kernels.push(kernel);
  const records: ConnectionRecord[] = [];
  kernel.on('closed', (record) => records.push(record));
  const { listeners } = await kernel.apply(kernelConfig(config));
  return { kernel, port: listeners[0]?.port ?? 0, records };
}

function kernelConfig(config: Partial<KernelConfig>): KernelConfig {
  return {
    mode: 'rule',
    listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
    ...config,
  };
}

const socks = (port: number): ProxyNode => ({ type: 'socks5', name: 's', server: '127.0.0.1', port });
const http = (port: number): ProxyNode => ({ type: 'http', name: 'h', server: 'proxy.test', port });

async function open(proxyPort: number, target: number): Promise<Socket> {
  const client = connect(proxyPort, '127.0.0.1');
  client.write(Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, target >> 8, target & 255]));
  const reader = new ByteReader(client);
  await reader.read(2);
  expect((await reader.read(10))[1]).toBe(0);
  reader.restore();
  return client;
}

async function roundTrip(stream: Socket | ByteStream, text: string): Promise<string> {
  stream.write(Buffer.from(text));
  const reader = new ByteReader(stream as ByteStream);
  const answer = (await reader.read(text.length)).toString();
  reader.restore();
  return answer;
}

describe('a node with a dialer', () => {
  it('is reached through the member that its group uses at each dial', async () => {
    const [first, second, last, target] = [await start({}), await start({}), await start({}), await echo()];
    const { port, kernel, records } = await start({
      outbounds: [
        { tag: 'n1', node: socks(first.port) },
        { tag: 'n2', node: http(second.port) },
        { tag: 'n3', node: socks(last.port), dialer: 'HOP' },
      ],
      groups: [{ name: 'HOP', type: 'select', members: ['n1', 'n2'] }],
      defaultPolicy: 'n3',
    });
    const one = await open(port, target);
    expect(await roundTrip(one, 'one')).toBe('one');
    kernel.select('HOP', 'n2');
    const two = await open(port, target);
    expect(await roundTrip(two, 'two')).toBe('two');
    // The connection that was open stays on its path.
    expect(await roundTrip(one, 'more')).toBe('more');
    one.destroy();
    two.destroy();
    await expect.poll(() => records.length).toBe(2);
    await expect.poll(() => last.records.map(({ destinationPort }) => destinationPort)).toEqual([target, target]);
    await expect.poll(() => [first.records.length, second.records.length]).toEqual([1, 1]);
    expect(first.records[0]).toMatchObject({ destinationIp: '127.0.0.1', destinationPort: last.port });
    expect(records[0]?.chain).toEqual(['n3']);
  });

  it('uses the hops of its own generation after a reload', async () => {
    const [first, second, last, target] = [await start({}), await start({}), await start({}), await echo()];
    const outbounds = (hop: number): OutboundConfig[] => [
      { tag: 'hop', node: socks(hop) },
      { tag: 'n3', node: socks(last.port), dialer: 'hop' },
    ];
    const { port, kernel } = await start({ outbounds: outbounds(first.port), defaultPolicy: 'n3' });
    (await open(port, target)).destroy();
    const listeners = [{ name: 'mixed', type: 'mixed' as const, address: '127.0.0.1', port: 0 }];
    await kernel.apply(kernelConfig({ listeners, outbounds: outbounds(second.port), defaultPolicy: 'n3' }));
    (await open(kernel.status().listeners[0]?.port ?? 0, target)).destroy();
    await expect.poll(() => [first.records.length, second.records.length]).toEqual([1, 1]);
  });

  it('reports that the hop failed, not the server', async () => {
    const server = createServer();
    const closed = await listen(server);
    server.close();
    const { port, records } = await start({
      outbounds: [
        { tag: 'hop', node: socks(closed) },
        { tag: 'n3', node: socks(1), dialer: 'hop' },
      ],
      defaultPolicy: 'n3',
    });
    const client = connect(port, '127.0.0.1');
    client.write(Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 9]));
    client.resume();
    await expect.poll(() => records.length).toBe(1);
    expect(records[0]).toMatchObject({ errorStage: 'dial', errorKind: 'connection_refused', status: 'failed' });
    expect(records[0]?.errorMessage).toContain('through hop');
    client.destroy();
  });

  it('carries datagrams through a hop that supports them, and reports one that does not', async () => {
    const [hop, last, target] = [await start({}), await start({}), await udpEcho()];
    const config = kernelConfig({
      outbounds: [
        { tag: 'udp', node: socks(hop.port) },
        { tag: 'tcp', node: http(hop.port) },
        { tag: 'n3', node: socks(last.port), dialer: 'HOP' },
      ],
      groups: [{ name: 'HOP', type: 'select', members: ['udp', 'tcp'] }],
    });
    const generation = compileGeneration(config, null, environment, health);
    const outbound = generation.outbounds.get('n3');
    expect(generation.policies.supportsUdp('n3')).toBe(true);
    const packets = (await outbound?.openPackets?.({ signal: new AbortController().signal })) as PacketConnection;
    const answer = new Promise<string>((resolve) => packets.onMessage((bytes) => resolve(bytes.toString())));
    packets.send(Buffer.from('over two hops'), { host: '127.0.0.1', port: target });
    expect(await answer).toBe('over two hops');
    packets.close();
    generation.policies.select('HOP', 'tcp');
    expect(generation.policies.supportsUdp('n3')).toBe(false);
    await expect(outbound?.openPackets?.({ signal: new AbortController().signal })).rejects.toThrow('through HOP');
  });

  it('is refused if it would dial through itself, and if its dialer does not exist', () => {
    const refused = (config: Partial<KernelConfig>): KernelConfigError => {
      try {
        compileGeneration(kernelConfig(config), null, environment, health);
      } catch (error) {
        if (error instanceof KernelConfigError) return error;
      }
      throw new Error('it was taken');
    };
    const own = refused({ outbounds: [{ tag: 'n1', node: socks(1), dialer: 'n1' }] });
    expect(own.message).toContain('n1 -> n1');
    const ring: OutboundConfig[] = [
      { tag: 'n1', node: socks(1) },
      { tag: 'n2', node: socks(1), dialer: 'G' },
    ];
    const members = ['n1', 'n2'];
    const error = refused({ outbounds: ring, groups: [{ name: 'G', type: 'select', members }] });
    expect(error.path).toBe('outbounds[1].dialer');
    expect(error.message).toContain('n2');
    expect(findDialCycle({ outbounds: ring, groups: [{ name: 'G', type: 'select', members: ['n1'] }] })).toBeNull();
    expect(refused({ outbounds: [{ tag: 'n1', node: socks(1), dialer: 'gone' }] }).path).toBe('outbounds[0].dialer');
  });
});

describe('marks of a dial', () => {
  it('report each stage of the way to the server as it ends', async () => {
    const hop = await start({});
    const target = await echo();
    const marks = async (dialer: typeof direct, node: ProxyNode): Promise<DialStage[]> => {
      const seen: DialStage[] = [];
      const outbound = createOutbound('n1', node, dialer, 'n1');
      const { signal } = new AbortController();
      const context = { signal, onStage: (stage: DialStage) => void seen.push(stage) };
      (await outbound.connect({ host: '127.0.0.1', port: target }, context)).destroy();
      return seen;
    };
    expect(await marks(direct, http(hop.port))).toEqual(['dns', 'connect']);
    expect(await marks(direct, socks(hop.port))).toEqual(['connect', 'greeting']);
    const over = createChainDialer(fixedHop(createOutbound('hop', socks(hop.port), direct, 'hop')));
    // One `connect` to the hop and one through it; the hop's own greeting does not count for the node.
    expect(await marks(over, http(hop.port))).toEqual(['connect', 'connect']);
  });
});
