import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ByteStream } from './byte-stream.js';
import { listenTcp } from './listen.js';
import { CarriedStream } from './carried-stream.js';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Passes on the bytes of the stream below, each incremented by one. */
class Raised extends CarriedStream implements ByteStream {
  readableEnded = false;

  constructor(inner: ByteStream) {
    super(inner);
    inner.on('data', (chunk) => this.emit('data', Buffer.from(chunk.map((byte) => byte + 1))));
    inner.on('drain', () => this.emit('drain'));
    inner.on('error', (error) => this.emit('error', error));
    inner.on('close', () => this.emit('close'));
  }

  get destroyed(): boolean {
    return this.inner.destroyed;
  }

  write(chunk: Uint8Array): boolean {
    return this.inner.write(chunk);
  }

  end(): void {
    this.inner.end();
  }

  pause(): void {
    this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }

  unshift(chunk: Uint8Array): void {
    this.inner.unshift(chunk);
  }

  destroy(error?: Error): void {
    this.inner.destroy(error);
  }
}

async function pair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  cleanups.push(() => server.close());
  const port = await listenTcp(server, { host: '127.0.0.1', port: 0 }, () => undefined);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const far = connect({ host: '127.0.0.1', port });
  const [near] = await accepted;
  cleanups.push(() => [near, far].forEach((socket) => socket.destroy()));
  return { near, far: far.on('error', () => undefined) };
}

describe('CarriedStream', () => {
  it('has the addresses and the buffer length of the stream below', async () => {
    const { near, far } = await pair();
    const stream = new Raised(near);
    expect([stream.remoteAddress, stream.remotePort]).toEqual([far.localAddress, far.localPort]);
    stream.cork();
    stream.write(Buffer.from('abc'));
    expect(stream.writableLength).toBe(3);
    stream.uncork();
    const [said] = (await once(far, 'data')) as [Buffer];
    expect(said.toString()).toBe('abc');
    expect(stream.writableLength).toBe(0);
  });

  it('has its own events', async () => {
    const { near, far } = await pair();
    const stream = new Raised(near);
    const received: string[] = [];
    const listener = (chunk: Buffer): void => void received.push(chunk.toString());
    stream.on('data', listener);
    const first = once(stream, 'data');
    far.write('abc');
    await first;
    stream.off('data', listener);
    const second = once(stream, 'data');
    far.write('xyz');
    await second;
    expect(received).toEqual(['bcd']);
  });

  it('is reset with the stream below', async () => {
    const { near, far } = await pair();
    const failed = once(far, 'error') as Promise<[NodeJS.ErrnoException]>;
    const stream = new Raised(near.on('error', () => undefined));
    const closed = once(stream, 'close');
    stream.resetAndDestroy();
    await closed;
    expect((await failed)[0].code).toBe('ECONNRESET');
  });
});
