import { createHash, randomBytes } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { NodeTransport, ProxyNode } from '@gatehouse/contracts';
import { createProxyKernel, type ConnectionRecord, type ProxyKernel } from '@gatehouse/proxy-kernel';
import { findPeer } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { startInbounds, startTrojan, type ServedNode } from '../support/node-servers.js';
import { optionalPeer, requirePeer } from '../support/peers.js';
import { Programs, freePort } from '../support/processes.js';
import { SocksUdp, readExactly, socksConnect } from '../support/socks-client.js';

const PROTOCOLS = ['vmess', 'vless', 'trojan'] as const;
const WS: NodeTransport = { type: 'ws', path: '/tunnel?x=1', headers: { Host: 'proxy.test' } };
const H2: NodeTransport = { type: 'h2', path: '/h2', hosts: ['proxy.test'] };
const GRPC: NodeTransport = { type: 'grpc', serviceName: 'tunnel service' };
const UPGRADE: NodeTransport = { type: 'httpupgrade', path: '/up', headers: { Host: 'proxy.test' } };
const ws = { network: 'ws', wsSettings: { path: '/tunnel' } };
const h2 = { network: 'http', httpSettings: { path: '/h2', host: ['proxy.test'] } };
const grpc = { network: 'grpc', grpcSettings: { serviceName: 'tunnel service' } };
const upgrade = { network: 'httpupgrade', httpupgradeSettings: { path: '/up' } };

interface Carried {
  name: string;
  stream: Record<string, unknown>;
  transport?: NodeTransport;
}
const TCP: Carried = { name: 'tcp', stream: { network: 'tcp' } };

/** A protocol through a transport, with TLS and (where the protocol allows) without. */
function matrix(carried: readonly Carried[]): ServedNode[] {
  return PROTOCOLS.flatMap((protocol) =>
    carried.flatMap(({ name, ...rest }) =>
      // Trojan has no protection of its own.
      (protocol === 'trojan' ? [true] : [false, true]).map((tls) => ({
        name: `${protocol} over ${name}${tls ? ' and TLS' : ''}`,
        protocol,
        tls,
        ...rest,
      })),
    ),
  );
}

const vmess = (cipher: string): ServedNode => ({
  name: `vmess with ${cipher}`,
  protocol: 'vmess',
  tls: false,
  stream: { network: 'tcp' },
  node: { cipher },
});

const V2RAY: ServedNode[] = [
  ...matrix([TCP, { name: 'WebSocket', stream: ws, transport: WS }, { name: 'HTTP/2', stream: h2, transport: H2 }]),
  ...['aes-128-gcm', 'chacha20-poly1305', 'none', 'zero'].map(vmess),
  {
    name: 'vmess disguised as HTTP',
    protocol: 'vmess',
    tls: false,
    stream: { network: 'tcp', tcpSettings: { header: { type: 'http', request: { path: ['/a', '/b'] } } } },
    transport: { type: 'http', path: ['/a', '/b'], headers: { Host: ['a.test', 'b.test'] } },
  },
];
const early: NodeTransport = {
  ...WS,
  path: '/tunnel',
  maxEarlyData: 2048,
  earlyDataHeaderName: 'Sec-WebSocket-Protocol',
};
const XRAY: ServedNode[] = [
  ...matrix([
    TCP,
    { name: 'WebSocket', stream: ws, transport: WS },
    { name: 'WebSocket with early data', stream: ws, transport: early },
    { name: 'gRPC', stream: grpc, transport: GRPC },
    { name: 'an HTTP upgrade', stream: upgrade, transport: UPGRADE },
  ]),
  ...['aes-128-gcm', 'chacha20-poly1305', 'none', 'zero'].map(vmess),
  {
    name: 'vless with a name for an id',
    protocol: 'vless',
    tls: false,
    stream: TCP.stream,
    serverId: 'example',
    node: { uuid: 'example' },
  },
  {
    name: 'gRPC at a path of its own',
    protocol: 'vless',
    tls: true,
    stream: { network: 'grpc', grpcSettings: { serviceName: '/my/path/up|upMulti' } },
    transport: { type: 'grpc', serviceName: '/my/path/up|upMulti' },
  },
];

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const programs = new Programs();
const nodes = new Map<string, ProxyNode>();
const records: ConnectionRecord[] = [];
const servers: (Server | UdpSocket)[] = [];
const sockets = new Set<Socket>();
let kernel: ProxyKernel;
let proxyPort = 0;

beforeAll(async () => {
  await serve('v2ray', V2RAY);
  await serve('xray', XRAY);
  const trojan = findPeer('trojan');
  if (trojan) nodes.set('trojan/trojan', await startTrojan(programs, trojan, await freePort()));
  const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) };
  kernel = createProxyKernel({ now: Date.now, logger: quiet, resolver, country: () => null });
  kernel.on('closed', (record) => records.push(record));
  const tags = [...nodes.keys()];
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
    outbounds: [...nodes].map(([tag, node]) => ({ tag, node })),
    groups: [{ name: 'PROXY', type: 'select', members: tags }],
    rules: [],
    defaultPolicy: 'PROXY',
  });
  proxyPort = listeners[0]?.port ?? 0;
});

afterAll(async () => {
  await kernel?.close();
  await programs.stopAll();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

/** Missing programs are each test's own to report. */
async function serve(program: string, served: ServedNode[]): Promise<void> {
  const binary = findPeer(program);
  if (!binary) return;
  const made = await startInbounds(programs, binary, served);
  for (const [index, node] of made.entries()) nodes.set(`${program}/${served[index]!.name}`, node);
}

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onSocket(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function udpEcho(prefix: string): Promise<number> {
  const socket = createSocket('udp4');
  servers.push(socket);
  socket.on('message', (bytes, { port, address }) =>
    socket.send(Buffer.concat([Buffer.from(prefix), bytes]), port, address),
  );
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket.address().port;
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

async function digest(socket: Socket): Promise<string> {
  const hash = createHash('md5');
  socket.on('data', (chunk: Buffer) => hash.update(chunk));
  socket.resume();
  await once(socket, 'end');
  return hash.digest('hex');
}

function use(context: TestContext, program: string, name: string): void {
  if (program === 'xray') optionalPeer(context, program);
  else requirePeer(context, program);
  kernel.select('PROXY', `${program}/${name}`);
}

/** The record of the one flow to a target: each test has a target of its own. */
async function record(target: number, network = 'tcp'): Promise<ConnectionRecord> {
  const found = (): ConnectionRecord[] =>
    records.filter((one) => one.destinationPort === target && one.network === network);
  await expect.poll(() => found().length, { timeout: 10_000 }).toBe(1);
  return found()[0]!;
}

/** Waits until a number has not changed for ten looks in a row. */
async function stable(read: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  const look = (): number => {
    const now = read();
    same = now === last && now > 0 ? same + 1 : 0;
    last = now;
    return same;
  };
  await expect.poll(look, { interval: 20, timeout: 15_000 }).toBeGreaterThanOrEqual(10);
  return last;
}

const subjects = [
  ...V2RAY.map(({ name }) => ({ program: 'v2ray', name })),
  ...XRAY.map(({ name }) => ({ program: 'xray', name })),
  { program: 'trojan', name: 'trojan' },
];

describe.each(subjects)('$name, by a real $program', ({ program, name }) => {
  it('carries bytes both ways, counted exactly', async (context) => {
    use(context, program, name);
    const sizes = [1, 1400, 15_000, 15_001, 70_000];
    const sum = sizes.reduce((total, size) => total + size);
    let echoed = 0;
    const target = await listen((socket) => {
      socket.on('data', (bytes: Buffer) => {
        socket.write(bytes);
        echoed += bytes.length;
        if (echoed === sum) socket.end();
      });
    });
    const client = await socksConnect(proxyPort, target);
    for (const size of sizes) {
      const sent = randomBytes(size);
      client.write(sent);
      expect((await readExactly(client, size)).equals(sent)).toBe(true);
    }
    client.resume();
    await once(client, 'end');
    client.end();
    expect(await record(target)).toMatchObject({ status: 'ok', upload: sum, download: sum });
  });

  it('carries what a server says first, and its end', async (context) => {
    use(context, program, name);
    const target = await listen((socket) => void socket.end('hello'));
    const client = await socksConnect(proxyPort, target);
    expect((await readExactly(client, 5)).toString()).toBe('hello');
    client.resume();
    await once(client, 'end');
    client.end();
    expect(await record(target)).toMatchObject({ status: 'ok', upload: 0, download: 5 });
  });

  it('holds a bounded amount for a client that does not read, then delivers all of it', async (context) => {
    use(context, program, name);
    const chunk = randomBytes(1024 * 1024);
    const total = 32;
    const expected = createHash('md5');
    for (let index = 0; index < total; index += 1) expected.update(chunk);
    let sent = 0;
    const target = await listen((socket) => {
      const pump = (): void => {
        while (sent < total) {
          sent += 1;
          if (!socket.write(chunk)) return;
        }
        socket.end();
      };
      socket.on('drain', pump);
      pump();
    });
    const client = await socksConnect(proxyPort, target);
    client.pause();
    expect(await stable(() => sent)).toBeLessThan(total);
    expect(await digest(client)).toBe(expected.digest('hex'));
    client.end();
    expect(await record(target)).toMatchObject({ status: 'ok', download: total * chunk.length });
  });

  it('carries 20 MB up, exactly', async (context) => {
    use(context, program, name);
    const bytes = randomBytes(20_000_000);
    const received = Promise.withResolvers<string>();
    const target = await listen((socket) => {
      const hash = createHash('md5');
      let size = 0;
      socket.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        size += chunk.length;
        if (size < bytes.length) return;
        received.resolve(hash.digest('hex'));
        socket.end('done');
      });
    });
    const client = await socksConnect(proxyPort, target);
    client.write(bytes);
    expect(await received.promise).toBe(md5(bytes));
    expect((await readExactly(client, 4)).toString()).toBe('done');
    client.destroy();
    expect(await record(target)).toMatchObject({ upload: bytes.length, download: 4 });
  });

  it('ends both sides when the client aborts in the middle', async (context) => {
    use(context, program, name);
    const closed = Promise.withResolvers<void>();
    const chunk = randomBytes(64 * 1024);
    const target = await listen((socket) => {
      const pump = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', pump);
      socket.on('end', () => socket.destroy());
      socket.on('close', () => closed.resolve());
      pump();
    });
    const client = await socksConnect(proxyPort, target);
    await readExactly(client, 1_000_000);
    client.resetAndDestroy();
    await closed.promise;
    expect(await record(target)).toMatchObject({ closeReason: 'client_closed' });
  });

  it('carries datagrams with several targets, each answer from its own', async (context) => {
    use(context, program, name);
    const targets = [await udpEcho('a'), await udpEcho('b')];
    const udp = await SocksUdp.open(proxyPort);
    for (const [size, index] of [
      [1, 0],
      [1200, 1],
      [1200, 0],
      [1400, 1],
    ] as const) {
      const payload = randomBytes(size);
      udp.send(payload, targets[index]!);
      const answer = await udp.receive();
      expect(answer.port).toBe(targets[index]);
      expect(answer.payload.equals(Buffer.concat([Buffer.from('ab'[index]!), payload]))).toBe(true);
    }
    udp.close();
    expect(await record(targets[0]!, 'udp')).toMatchObject({ upload: 1201, download: 1203 });
    expect(await record(targets[1]!, 'udp')).toMatchObject({ upload: 2600, download: 2602 });
  });
});
