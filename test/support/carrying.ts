import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, it, type TestContext } from 'vitest';
import type { NodeRig } from './node-rig.js';
import { SocksUdp, readExactly, socksConnect } from './socks-client.js';

/** Sent over and over: what comes is compared byte by byte, which costs a tenth of hashing both ends. */
const MEGABYTE = randomBytes(1024 * 1024);

/** What came of MEGABYTE, sent over and over. */
class Repeated {
  length = 0;
  isChanged = false;

  take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      const from = this.length % MEGABYTE.length;
      const size = Math.min(bytes.length - at, MEGABYTE.length - from);
      if (MEGABYTE.compare(bytes, at, at + size, from, from + size) !== 0) this.isChanged = true;
      at += size;
      this.length += size;
    }
  }
}

export interface Carrying {
  /** Skips where the peer is missing; else the rig, the node chosen. */
  use: (context: TestContext) => NodeRig;
  udp: boolean;
}

/** What any node must do with a TCP flow and, where it carries them, datagrams. Call inside `describe`. */
export function itCarries({ use, udp }: Carrying): void {
  it('carries bytes both ways, counted exactly', (context) => bothWays(use(context)));
  it('carries what a server says first, and its end', (context) => serverFirst(use(context)));
  it('holds a bounded amount for a client that does not read, then delivers all of it', (context) =>
    slowReader(use(context)));
  it('carries 20 MB up, exactly', (context) => upload(use(context)));
  it('ends both sides when the client aborts in the middle', (context) => abort(use(context)));
  it('carries many flows at once, each its own', (context) => manyFlows(use(context)));
  if (udp) it('carries datagrams with several targets, each answer from its own', (context) => datagrams(use(context)));
}

async function bothWays(rig: NodeRig): Promise<void> {
  const sizes = [1, 1400, 15_000, 15_001, 16_383, 16_384, 70_000];
  const sum = sizes.reduce((total, size) => total + size);
  let echoed = 0;
  const target = await rig.listen((socket) => {
    socket.on('data', (bytes: Buffer) => {
      socket.write(bytes);
      echoed += bytes.length;
      if (echoed === sum) socket.end();
    });
  });
  const client = await socksConnect(rig.proxyPort, target);
  for (const size of sizes) {
    const sent = randomBytes(size);
    client.write(sent);
    expect((await readExactly(client, size)).equals(sent)).toBe(true);
  }
  client.resume();
  await once(client, 'end');
  client.end();
  expect(await rig.record()).toMatchObject({ status: 'ok', upload: sum, download: sum });
}

async function serverFirst(rig: NodeRig): Promise<void> {
  const target = await rig.listen((socket) => void socket.end('hello'));
  const client = await socksConnect(rig.proxyPort, target);
  expect((await readExactly(client, 5)).toString()).toBe('hello');
  client.resume();
  await once(client, 'end');
  client.end();
  expect(await rig.record()).toMatchObject({ status: 'ok', upload: 0, download: 5 });
}

async function slowReader(rig: NodeRig): Promise<void> {
  // More than the buffers of all sockets on the way can grow to.
  const total = 48;
  let sent = 0;
  const target = await rig.listen((socket) => {
    const pump = (): void => {
      while (sent < total) {
        sent += 1;
        if (!socket.write(MEGABYTE)) return;
      }
      socket.end();
    };
    socket.on('drain', pump);
    pump();
  });
  const client = await socksConnect(rig.proxyPort, target);
  client.pause();
  expect(await stable(() => sent)).toBeLessThan(total);
  const came = new Repeated();
  client.on('data', (bytes: Buffer) => came.take(bytes));
  client.resume();
  await once(client, 'end');
  expect(came).toEqual({ length: total * MEGABYTE.length, isChanged: false });
  client.end();
  expect(await rig.record()).toMatchObject({ status: 'ok', download: total * MEGABYTE.length });
}

async function upload(rig: NodeRig): Promise<void> {
  const bytes = Buffer.alloc(20_000_000, MEGABYTE);
  const received = Promise.withResolvers<Repeated>();
  const target = await rig.listen((socket) => {
    const came = new Repeated();
    socket.on('data', (part: Buffer) => {
      came.take(part);
      if (came.length < bytes.length) return;
      received.resolve(came);
      socket.end('done');
    });
  });
  const client = await socksConnect(rig.proxyPort, target);
  client.write(bytes);
  expect(await received.promise).toEqual({ length: bytes.length, isChanged: false });
  expect((await readExactly(client, 4)).toString()).toBe('done');
  client.destroy();
  expect(await rig.record()).toMatchObject({ upload: bytes.length, download: 4 });
}

async function abort(rig: NodeRig): Promise<void> {
  const closed = Promise.withResolvers<void>();
  const chunk = randomBytes(64 * 1024);
  const target = await rig.listen((socket) => {
    const pump = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pump);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => closed.resolve());
    pump();
  });
  const client = await socksConnect(rig.proxyPort, target);
  await readExactly(client, 1_000_000);
  client.resetAndDestroy();
  await closed.promise;
  expect(await rig.record()).toMatchObject({ closeReason: 'client_closed' });
}

async function manyFlows(rig: NodeRig): Promise<void> {
  const target = await rig.listen((socket) => socket.pipe(socket));
  const before = rig.records.length;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const client = await socksConnect(rig.proxyPort, target);
      const sent = randomBytes(100_000);
      client.write(sent);
      expect((await readExactly(client, sent.length)).equals(sent)).toBe(true);
      client.resetAndDestroy();
    }),
  );
  await expect.poll(() => rig.records.length, { timeout: 10_000 }).toBe(before + 20);
}

async function datagrams(rig: NodeRig): Promise<void> {
  const targets = [await rig.udpEcho('a'), await rig.udpEcho('b')];
  const udp = await SocksUdp.open(rig.proxyPort);
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
  await expect.poll(() => rig.records.length, { timeout: 10_000 }).toBe(2);
  const counts = rig.records.map(({ upload: up, download }) => [up, download]).sort((a, b) => a[0]! - b[0]!);
  expect(counts).toEqual([
    [1201, 1203],
    [2600, 2602],
  ]);
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
