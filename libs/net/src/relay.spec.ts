import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Socket, connect, createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ByteStreamDuplex,
  DialedSocket,
  relay,
  type ByteCounter,
  type RelayEnd,
  type RelayHandle,
  type RelayOptions,
  type Throttle,
  type ThrottleWaiter,
} from './index.js';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    cleanups.push(() => socket.destroy());
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  cleanups.push(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A client and a target with one relay between them. */
async function between(options: RelayOptions = {}, makeRemote: () => Socket = () => new DialedSocket()) {
  const counter: ByteCounter = { upload: 0, download: 0 };
  const ended = Promise.withResolvers<RelayEnd>();
  const started = Promise.withResolvers<RelayHandle>();
  const accepted = Promise.withResolvers<Socket>();
  const target = await listen((socket) => accepted.resolve(socket));
  const port = await listen((socket) => {
    const remote = makeRemote();
    remote.pause();
    remote.on('error', () => undefined);
    remote.connect({ port: target, host: '127.0.0.1' }, () => {
      started.resolve(relay(socket, remote, counter, { ...options, onClose: ended.resolve }));
    });
  });
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => undefined);
  cleanups.push(() => client.destroy());
  const server = await accepted.promise;
  return { client, server, counter, ended: ended.promise, handle: await started.promise };
}

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

describe('relay', () => {
  it('carries bytes both ways, counts them, and says which side ended it', async () => {
    const { client, server, counter, ended } = await between();
    const up = randomBytes(700_000);
    const down = randomBytes(900_000);
    client.end(up);
    server.end(down);
    const [atServer, atClient] = await Promise.all([readAll(server), readAll(client)]);
    expect(atServer.equals(up) && atClient.equals(down)).toBe(true);
    await ended;
    expect(counter).toEqual({ upload: 700_000, download: 900_000 });
  });

  it('sends the head first and counts it', async () => {
    const { client, server, counter, ended } = await between({ head: Buffer.from('head ') });
    client.end('tail');
    expect((await readAll(server)).toString()).toBe('head tail');
    server.end();
    client.resume();
    expect(await ended).toMatchObject({ reason: 'client_closed', error: null });
    expect(counter.upload).toBe(9);
  });

  it('passes a FIN on and keeps the other direction open', async () => {
    const { client, server, ended } = await between();
    server.end('last words');
    expect((await readAll(client)).toString()).toBe('last words');
    const sent = randomBytes(200_000);
    client.end(sent);
    expect((await readAll(server)).equals(sent)).toBe(true);
    expect(await ended).toMatchObject({ reason: 'remote_closed' });
  });

  it.each(['client', 'server'] as const)('passes a reset of the %s on as a reset', async (side) => {
    const pair = await between();
    const other = side === 'client' ? pair.server : pair.client;
    const code = new Promise((resolve) => other.on('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
    other.resume();
    pair[side].resetAndDestroy();
    expect(await code).toBe('ECONNRESET');
    expect((await pair.ended).reason).toBe(side === 'client' ? 'client_error' : 'remote_error');
  });

  it('holds back for a slow reader without losing or reordering bytes', async () => {
    const { client, server, counter, ended } = await between();
    client.pause();
    const total = 48 * 1024 * 1024;
    const chunk = randomBytes(1024 * 1024);
    const writer = (async () => {
      for (let sent = 0; sent < total; sent += chunk.length) {
        if (!server.write(chunk)) await once(server, 'drain');
      }
      server.end();
    })();
    await stable(() => counter.download);
    expect(counter.download).toBeLessThan(total);
    let at = 0;
    let wrong = 0;
    client.on('data', (bytes: Buffer) => {
      for (let offset = 0; offset < bytes.length;) {
        const start = at % chunk.length;
        const size = Math.min(bytes.length - offset, chunk.length - start);
        if (bytes.compare(chunk, start, start + size, offset, offset + size) !== 0) wrong += 1;
        offset += size;
        at += size;
      }
    });
    client.resume();
    await Promise.all([writer, once(client, 'end')]);
    client.end();
    server.resume();
    await ended;
    expect({ at, wrong, counted: counter.download }).toEqual({ at: total, wrong: 0, counted: total });
  });

  it('ends after the idle timeout', async () => {
    const { client, ended } = await between({ idleTimeoutMs: 30 });
    client.resume();
    expect(await ended).toEqual({ reason: 'idle', error: null });
  });

  it('ends when it is stopped', async () => {
    const { client, server, ended, handle } = await between();
    client.resume();
    server.resume();
    handle.stop();
    expect(await ended).toEqual({ reason: 'stopped', error: null });
  });

  it('works with a plain socket as well', async () => {
    const { client, server, ended } = await between({}, () => new Socket({ allowHalfOpen: true }));
    client.end('question');
    expect((await readAll(server)).toString()).toBe('question');
    server.end('answer');
    expect((await readAll(client)).toString()).toBe('answer');
    await ended;
  });

  it('ends at once if one side is already closed', async () => {
    const client = new Socket();
    const remote = new Socket();
    client.destroy();
    await once(client, 'close');
    const end = await new Promise<RelayEnd>((resolve) => {
      relay(client, remote, { upload: 0, download: 0 }, { onClose: resolve });
    });
    expect(end.reason).toBe('client_error');
    expect(remote.destroyed).toBe(true);
  });
});

describe('DialedSocket', () => {
  it('never overwrites a chunk that was not released', async () => {
    const sent = randomBytes(3_000_000);
    const port = await listen((socket) => socket.end(sent));
    const socket = new DialedSocket();
    cleanups.push(() => socket.destroy());
    socket.connect({ port, host: '127.0.0.1' });
    const kept: Buffer[] = [];
    let events = 0;
    const copies: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      events += 1;
      // Every other chunk is released; the ones that are kept must not change.
      if (events % 2 === 0) {
        copies.push(Buffer.from(chunk));
        kept.push(Buffer.alloc(0));
        socket.release();
      } else {
        copies.push(Buffer.alloc(0));
        kept.push(chunk);
      }
    });
    await once(socket, 'end');
    expect(
      Buffer.concat(kept.map((chunk, index) => (chunk.length > 0 ? chunk : (copies[index] as Buffer)))).equals(sent),
    ).toBe(true);
    expect(events).toBeGreaterThan(4);
  });

  it('passes the memory of a closed socket to the next one only if it was released', async () => {
    let answer = '';
    const port = await listen((socket) => socket.end(answer));
    const ask = async (text: string, release: boolean): Promise<Buffer> => {
      answer = text;
      const socket = new DialedSocket();
      cleanups.push(() => socket.destroy());
      socket.connect({ port, host: '127.0.0.1' });
      const chunk = Promise.withResolvers<Buffer>();
      socket.on('data', (bytes: Buffer) => {
        chunk.resolve(bytes);
        if (release) socket.release();
      });
      socket.on('end', () => socket.end());
      await once(socket, 'close');
      return chunk.promise;
    };
    const kept = await ask('kept', false);
    const released = await ask('released', true);
    expect((await ask('the next', true)).buffer).toBe(released.buffer);
    expect(kept.buffer).not.toBe(released.buffer);
    expect([String(kept), String(released)]).toEqual(['kept', 'the next']);
  });
});

describe('ByteStreamDuplex', () => {
  it('is a Duplex over the stream and counts into the current counter', async () => {
    const port = await listen((socket) => socket.pipe(socket));
    const inner = new DialedSocket();
    cleanups.push(() => inner.destroy());
    inner.pause();
    inner.connect({ port, host: '127.0.0.1' });
    await once(inner, 'connect');
    const first = { upload: 0, download: 0 };
    const second = { upload: 0, download: 0 };
    const duplex = new ByteStreamDuplex(inner, first);
    duplex.write('one');
    expect(String((await once(duplex, 'data'))[0])).toBe('one');
    duplex.counter = second;
    duplex.end('three');
    expect(String((await once(duplex, 'data'))[0])).toBe('three');
    await once(duplex, 'end');
    expect([first, second]).toEqual([
      { upload: 3, download: 3 },
      { upload: 5, download: 5 },
    ]);
  });

  it('fails when the stream is reset', async () => {
    const port = await listen((socket) => void socket.once('data', () => socket.resetAndDestroy()).resume());
    const inner = new DialedSocket();
    inner.pause();
    inner.connect({ port, host: '127.0.0.1' });
    await once(inner, 'connect');
    const duplex = new ByteStreamDuplex(inner);
    const failed = once(duplex, 'error');
    duplex.resume();
    duplex.write('x');
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
  });
});

async function stable(read: () => number): Promise<void> {
  let last = -1;
  let same = 0;
  const look = (): number => {
    const now = read();
    same = now === last && now > 0 ? same + 1 : 0;
    last = now;
    return same;
  };
  await expect.poll(look, { interval: 20, timeout: 15_000 }).toBeGreaterThanOrEqual(8);
}

describe('a throttled relay', () => {
  /** Grants bytes only when the test says so. */
  class HandThrottle implements Throttle {
    budget = 0;
    readonly line = new Set<ThrottleWaiter>();

    take(wanted: number): number {
      const taken = Math.min(wanted, this.budget);
      this.budget -= taken;
      return taken;
    }

    enqueue(waiter: ThrottleWaiter): void {
      this.line.add(waiter);
    }

    leave(waiter: ThrottleWaiter): void {
      this.line.delete(waiter);
    }

    /** Grants as long as a sender waits. */
    async grantAll(part: number): Promise<void> {
      for (let idle = 0; idle < 50; idle++) {
        for (const waiter of this.line) {
          idle = 0;
          this.line.delete(waiter);
          waiter.grant(Math.min(part, waiter.waiting));
          if (waiter.waiting > 0) this.line.add(waiter);
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
  }

  it.each([7, 4096, 100_000])(
    'carries everything both ways unchanged, %d bytes at a time, with the ends after it',
    async (part) => {
      const throttle = new HandThrottle();
      const { client, server, counter, ended } = await between({ throttle, head: Buffer.from('head') });
      const size = part === 7 ? 3000 : 1_500_000;
      const [up, down] = [randomBytes(size), randomBytes(size)];
      client.end(up);
      server.end(down);
      const reading = Promise.all([readAll(server), readAll(client)]);
      await throttle.grantAll(part);
      const [atServer, atClient] = await reading;
      expect(atServer.equals(Buffer.concat([Buffer.from('head'), up]))).toBe(true);
      expect(atClient.equals(down)).toBe(true);
      expect(await ended).toMatchObject({ error: null });
      expect(counter).toEqual({ upload: size + 4, download: size });
      expect(throttle.line.size).toBe(0);
    },
  );

  it('sends only what was granted, and stops reading meanwhile', async () => {
    const throttle = new HandThrottle();
    throttle.budget = 1000;
    const { client, server, counter } = await between({ throttle });
    let arrived = 0;
    server.on('data', (part: Buffer) => (arrived += part.length)).resume();
    const block = Buffer.alloc(1024 * 1024);
    client.on('drain', () => client.write(block));
    client.write(block);
    await until(() => arrived === 1000 && throttle.line.size === 1);
    const read = counter.upload;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(arrived).toBe(1000);
    expect(counter.upload).toBe(read);
    expect(read).toBeLessThanOrEqual(128 * 1024);
    const [waiter] = throttle.line;
    waiter?.grant(500);
    await until(() => arrived === 1500);
  });

  it('splits a grant between the directions, and gives the unused part of one to the other', async () => {
    const throttle = new HandThrottle();
    const { client, server } = await between({ throttle });
    const arrived = { up: 0, down: 0 };
    server.on('data', (part: Buffer) => (arrived.up += part.length)).resume();
    client.on('data', (part: Buffer) => (arrived.down += part.length));
    client.write(Buffer.alloc(10_000));
    server.write(Buffer.alloc(100));
    await until(() => [...throttle.line][0]?.waiting === 10_100);
    const [waiter] = throttle.line;
    waiter?.grant(150);
    await until(() => arrived.up === 75 && arrived.down === 75);
    waiter?.grant(100);
    await until(() => arrived.up === 150 && arrived.down === 100);
  });

  it('can get a throttle, another one, and none while it runs', async () => {
    const { client, server, handle } = await between();
    let arrived = 0;
    server.on('data', (part: Buffer) => (arrived += part.length)).resume();
    client.write(Buffer.alloc(1000));
    await until(() => arrived === 1000);
    const throttles = [new HandThrottle(), new HandThrottle()] as const;
    handle.limit(throttles[0]);
    client.write(Buffer.alloc(1000));
    await until(() => throttles[0].line.size === 1);
    handle.limit(throttles[1]);
    expect([throttles[0].line.size, throttles[1].line.size]).toEqual([0, 1]);
    expect(arrived).toBe(1000);
    const end = once(server, 'end');
    client.end(Buffer.alloc(1000));
    handle.limit(null);
    expect(throttles[1].line.size).toBe(0);
    await end;
    expect(arrived).toBe(3000);
  });

  it('leaves the line when it is reset, and ignores a new throttle after its end', async () => {
    const throttle = new HandThrottle();
    const { client, ended, handle } = await between({ throttle });
    client.write(Buffer.alloc(1000));
    await until(() => throttle.line.size === 1);
    client.resetAndDestroy();
    // The relay is not reading, so it notices the reset when it is stopped or at its next write.
    handle.stop();
    await ended;
    expect(throttle.line.size).toBe(0);
    handle.limit(throttle);
    expect(throttle.line.size).toBe(0);
  });

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
  }
});
