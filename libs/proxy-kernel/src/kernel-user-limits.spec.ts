import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { ByteReader, decodeSocksDatagram, encodeSocksDatagram } from '@gatehouse/net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cleanUp, cleanups, client, portOf, readAll, startKernel, until } from '../test/kernel-rig.js';
import type { ConnectionRecord, KernelConfig, ProxyKernel, UserLimits, UserTraffic } from './index.js';

afterEach(cleanUp);

const KIB = 1024;

let clock: { offset: number };
let kernel: ProxyKernel;
let port: number;
let records: ConnectionRecord[];
let traffic: UserTraffic[];
let echo: number;
let config: KernelConfig;

const ann = (limits?: UserLimits) => ({ username: 'ann', password: 'right', ...(limits && { limits }) });
const bob = { username: 'bob', password: 'right' };

async function apply(...users: ReturnType<typeof ann>[]): Promise<void> {
  config = { ...config, listeners: [{ name: 'in', type: 'mixed', address: '127.0.0.1', port, users }] };
  await kernel.apply(config);
}

beforeEach(async () => {
  clock = { offset: 0 };
  ({ kernel, port, records } = await startKernel({ users: [ann(), bob], now: () => Date.now() + clock.offset }));
  traffic = [];
  kernel.on('traffic', ({ users = [] }) => traffic.push(...users));
  config = { mode: 'rule', listeners: [], outbounds: [], groups: [], rules: [], defaultPolicy: 'DIRECT' };
  echo = await portOf(createServer((socket) => socket.pipe(socket)));
});

/** Opens a tunnel; the socket, the status and the text of a refusal. */
async function tunnel(user = 'ann', target = echo): Promise<{ socket: Socket; status: number; text: string }> {
  const socket = client(port);
  const login = Buffer.from(`${user}:right`).toString('base64');
  socket.write(`CONNECT 127.0.0.1:${target} HTTP/1.1\r\nProxy-Authorization: Basic ${login}\r\n\r\n`);
  const reader = new ByteReader(socket, 64 * KIB);
  const head = (await reader.readThrough(Buffer.from('\r\n\r\n'))).toString();
  const status = Number(head.slice(9, 12));
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const text = length > 0 ? (await reader.read(length)).toString().trim() : '';
  reader.restore();
  return { socket, status, text };
}

const refusal = async (user = 'ann') => {
  const { status, text } = await tunnel(user);
  return [status, text];
};

async function echoed(socket: Socket, bytes: number): Promise<number> {
  let received = 0;
  const done = new Promise<void>((resolve) => {
    const settle = (): void => resolve();
    socket.on('close', settle);
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (received >= bytes) settle();
    });
  });
  socket.write(Buffer.alloc(bytes));
  socket.resume();
  await done;
  return received;
}

const ended = (socket: Socket): Promise<unknown> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve));

describe('an expired user', () => {
  it('is refused with the reason, and its open connections end at that moment', async () => {
    await apply(ann({ expiresAt: Date.now() + 60_000 }), bob);
    const [own, other] = [await tunnel(), await tunnel('bob')];
    expect([own.status, other.status]).toEqual([200, 200]);
    clock.offset = 60_000;
    await ended(own.socket);
    expect(await refusal()).toEqual([403, 'this user has expired']);
    await until(() => records.length === 2);
    expect(records).toMatchObject([
      { inboundUser: 'ann', status: 'ok', closeReason: 'user_limit' },
      { inboundUser: 'ann', status: 'rejected', errorMessage: 'this user has expired' },
    ]);
    expect(await echoed(other.socket, 10)).toBe(10);
  });

  it('goes on if the date was moved before it came', async () => {
    await apply(ann({ expiresAt: Date.now() + 60_000 }), { ...bob, limits: { expiresAt: Date.now() + 60_000 } });
    const [{ socket }, other] = [await tunnel(), await tunnel('bob')];
    await apply(ann({ expiresAt: Date.now() + 120_000 }), { ...bob, limits: { expiresAt: Date.now() + 60_000 } });
    clock.offset = 60_000;
    // The kernel has looked at both when it has ended this one.
    await ended(other.socket);
    expect(await echoed(socket, 10)).toBe(10);
  });
});

it('refuses a user from other addresses, and ends its connections when the addresses change', async () => {
  await apply(ann({ allowedAddresses: ['127.0.0.0/8', '::1'] }));
  const { socket, status } = await tunnel();
  expect(status).toBe(200);
  await apply(ann({ allowedAddresses: ['10.0.0.1'] }));
  await ended(socket);
  expect(await refusal()).toEqual([403, 'this user may not connect from this address']);
  await expect(apply(ann({ allowedAddresses: ['10.0.0.0.0'] }))).rejects.toThrow('10.0.0.0.0 is no address');
});

it('allows as many connections at the same time as the user may have', async () => {
  await apply(ann({ maxConnections: 2 }), bob);
  const { socket } = await tunnel();
  await tunnel();
  expect(await refusal()).toEqual([429, 'this user may have 2 connections at the same time']);
  expect((await tunnel('bob')).status).toBe(200);
  socket.destroy();
  await until(() => records.some(({ status }) => status === 'ok'));
  expect((await tunnel()).status).toBe(200);
});

describe('the traffic of a user', () => {
  it('ends to the byte, all connections together, and more of it opens the user again', async () => {
    await apply(ann({ trafficLeft: 300 * KIB }), bob);
    const sockets = [(await tunnel()).socket, (await tunnel()).socket];
    const received = await Promise.all(sockets.map((socket) => echoed(socket, 100 * KIB)));
    // 200 KiB went up, so at most 100 KiB can have come down.
    expect(received[0]! + received[1]!).toBeLessThanOrEqual(100 * KIB);
    await Promise.all(sockets.map(ended));
    expect(await refusal()).toEqual([403, 'this user has used up its traffic']);
    expect((await tunnel('bob')).status).toBe(200);
    await apply(ann({ trafficLeft: 10 }), bob);
    const { socket } = await tunnel();
    expect(await echoed(socket, 5)).toBe(5);
    await ended(socket);
  });

  it('counts plain requests', async () => {
    const origin = await portOf(createHttpServer((_, response) => response.end(Buffer.alloc(200 * KIB))));
    await apply(ann({ trafficLeft: 300 * KIB }));
    const login = Buffer.from('ann:right').toString('base64');
    const get = async (): Promise<string> => {
      const socket = client(port);
      socket.write(
        `GET http://127.0.0.1:${origin}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nProxy-Authorization: Basic ${login}\r\n\r\n`,
      );
      return readAll(socket);
    };
    expect((await get()).length).toBeGreaterThan(200 * KIB);
    expect((await get()).length).toBeLessThan(200 * KIB);
    expect(await get()).toContain('this user has used up its traffic');
  });

  it('counts datagrams', async () => {
    const target = createSocket('udp4');
    target.on('message', (bytes, { port: from, address }) => target.send(bytes, from, address));
    await once(target.bind(0, '127.0.0.1'), 'listening');
    cleanups.push(() => target.close());
    await apply(ann({ trafficLeft: 250 }));
    const { send, answers } = await association();
    for (let count = 0; count < 4; count += 1) {
      send(Buffer.alloc(100), target.address().port);
      if (count === 0) await until(() => answers.length === 1);
    }
    await until(() => records.some(({ closeReason }) => closeReason === 'user_limit'));
    expect(records[0]).toMatchObject({ network: 'udp', upload: 100, download: 100 });
    expect(answers).toHaveLength(1);
  });

  it('is reported, and the reports add up to the records', async () => {
    const { socket } = await tunnel();
    await echoed(socket, 1_000);
    socket.destroy();
    await tunnel('bob', 1);
    await until(() => records.length === 2 && traffic.some(({ user }) => user === 'bob'));
    await kernel.close();
    const sum = { upload: 0, download: 0, opened: 0, failed: 0 };
    for (const part of traffic.filter(({ user }) => user === 'ann')) {
      for (const key of ['upload', 'download', 'opened', 'failed'] as const) sum[key] += part[key];
    }
    expect(sum).toEqual({ upload: 1_000, download: 1_000, opened: 1, failed: 0 });
    expect(traffic.find(({ user }) => user === 'bob')).toMatchObject({ opened: 1, failed: 1, upload: 0 });
  });
});

describe('the rate of a user', () => {
  it('holds for all its connections together, and for those that were open before', async () => {
    const [first, second] = [(await tunnel()).socket, (await tunnel()).socket];
    await apply(ann({ rateLimit: 100 * KIB }));
    const began = performance.now();
    // 64 KiB may come at once, then 100 KiB each second: both ways together that is 400 KiB.
    await Promise.all([echoed(first, 100 * KIB), echoed(second, 100 * KIB)]);
    expect(performance.now() - began).toBeGreaterThan(2_000);
  });

  it('is lifted from running connections', async () => {
    await apply(ann({ rateLimit: 1 }));
    const { socket } = await tunnel();
    const done = echoed(socket, 500 * KIB);
    await apply(ann());
    expect(await done).toBe(500 * KIB);
  });

  it('holds for plain requests in both directions', async () => {
    const origin = await portOf(createHttpServer((request, response) => request.pipe(response)));
    await apply(ann({ rateLimit: 100 * KIB }));
    const socket = client(port);
    const login = Buffer.from('ann:right').toString('base64');
    const began = performance.now();
    const body = Buffer.alloc(150 * KIB, 'x').toString();
    socket.write(
      `POST http://127.0.0.1:${origin}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n` +
        `Proxy-Authorization: Basic ${login}\r\n\r\n${body}`,
    );
    // Without the head and the sizes of chunks.
    expect((await readAll(socket)).match(/x{2,}/g)?.join('')).toBe(body);
    expect(performance.now() - began).toBeGreaterThan(1_500);
  });
});

it('ends the connections of a user that was removed', async () => {
  const { socket } = await tunnel();
  const { socket: other } = await tunnel('bob');
  await apply(bob);
  await ended(socket);
  expect(await echoed(other, 10)).toBe(10);
  await until(() => records.length === 1);
  expect(records[0]).toMatchObject({ inboundUser: 'ann', closeReason: 'user_limit' });
});

/** A SOCKS5 UDP association of ann. */
async function association() {
  const socket = client(port);
  const reader = new ByteReader(socket);
  socket.write(Buffer.from([5, 1, 2, 1, 3, ...Buffer.from('ann'), 5, ...Buffer.from('right')]));
  await reader.read(4);
  socket.write(Buffer.from([5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
  const relay = (await reader.read(10)).readUInt16BE(8);
  const udp = createSocket('udp4');
  const answers: Buffer[] = [];
  udp.on('message', (bytes) => answers.push(decodeSocksDatagram(bytes, String)!.payload));
  cleanups.push(() => udp.close());
  const send = (payload: Buffer, to: number): void => {
    udp.send(encodeSocksDatagram({ host: '127.0.0.1', port: to }, payload)!, relay, '127.0.0.1');
  };
  return { send, answers };
}
