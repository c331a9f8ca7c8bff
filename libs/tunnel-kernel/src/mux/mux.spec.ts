import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ByteStream } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { TunnelError } from '../errors.js';
import { MuxConnection } from './mux-connection.js';
import { MUX_FRAME, muxHeader, muxNumber } from './mux-frames.js';
import type { MuxStream } from './mux-stream.js';
import type { MuxTransport, MuxTransportHandlers } from './mux-transport.js';

/** One end of a line in memory that delivers after a turn, in pieces of `cut` bytes, and has room for `room`. */
class MemoryLine implements MuxTransport {
  peer: MemoryLine | null = null;
  handlers: MuxTransportHandlers | null = null;
  writableLength = 0;
  closed = false;
  sent = 0;
  private readonly waiting: Buffer[] = [];
  private readonly room: number;
  private readonly cut: number;
  private running = false;

  constructor(room = 64 * 1024, cut = 10_000) {
    this.room = room;
    this.cut = cut;
  }

  start(handlers: MuxTransportHandlers): void {
    this.handlers = handlers;
  }

  send(parts: readonly Uint8Array[]): boolean {
    const bytes = Buffer.concat(parts);
    this.sent += bytes.length;
    this.writableLength += bytes.length;
    this.waiting.push(bytes);
    this.run();
    return this.writableLength < this.room;
  }

  close(): void {
    this.destroy();
  }

  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.handlers?.closed(new TunnelError('stopped', 'given up'));
    this.peer?.destroy();
  }

  private run(): void {
    if (this.running) return;
    this.running = true;
    setImmediate(() => {
      this.running = false;
      const bytes = Buffer.concat(this.waiting.splice(0));
      const wasFull = this.writableLength >= this.room;
      this.writableLength = 0;
      for (let at = 0; at < bytes.length && !this.closed; at += this.cut) {
        this.peer?.handlers?.data(bytes.subarray(at, at + this.cut));
      }
      if (wasFull && !this.closed) this.handlers?.drain();
    });
  }
}

function pair(onStream: (stream: MuxStream) => void, cut?: number) {
  const near = new MemoryLine(64 * 1024, cut);
  const far = new MemoryLine(64 * 1024, cut);
  near.peer = far;
  far.peer = near;
  const ends: TunnelError[] = [];
  const acceptor = new MuxConnection(far, { onStream, onClose: (error) => ends.push(error) });
  const opener = new MuxConnection(near, {});
  return { opener, acceptor, near, far, ends };
}

function collect(stream: ByteStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    stream.on('data', (part) => parts.push(Buffer.from(part)));
    stream.on('end', () => resolve(Buffer.concat(parts)));
    stream.on('error', reject);
    stream.resume();
  });
}

function echo(stream: ByteStream): void {
  stream.on('data', (part) => {
    if (!stream.write(part) && stream.writableLength > 0) stream.pause();
  });
  stream.on('drain', () => stream.resume());
  stream.on('end', () => stream.end());
  stream.resume();
}

/** Sends all of it as the stream takes it. */
async function send(stream: ByteStream, bytes: Buffer, piece: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += piece) {
    if (!stream.write(bytes.subarray(at, at + piece)) && stream.writableLength > 0) {
      await new Promise<void>((resolve) => stream.once('drain', resolve));
    }
  }
  stream.end();
}

describe('streams of one connection', () => {
  it.each([1, 7, 100_000])('carry many transfers at once in both directions, split into pieces of %i', async (cut) => {
    const size = cut < 10 ? 40_000 : 3_000_000;
    const { opener } = pair((stream) => {
      stream.widen();
      echo(stream);
    }, cut);
    const all = Array.from({ length: cut < 10 ? 4 : 12 }, async (_, index) => {
      const stream = opener.open();
      const bytes = randomBytes(size + index);
      const [back] = await Promise.all([collect(stream), send(stream, bytes, 17_000 + index * 9000)]);
      expect(back.equals(bytes)).toBe(true);
    });
    await Promise.all(all);
    await waitFor(() => opener.size === 0);
  });

  it('end each direction separately', async () => {
    const { opener, acceptor } = pair((stream) => {
      void collect(stream).then((question) => {
        stream.write(Buffer.from(`${question.length} bytes`));
        stream.end();
      });
    });
    const stream = opener.open();
    stream.write(randomBytes(1000));
    stream.end();
    expect(String(await collect(stream))).toBe('1000 bytes');
    await waitFor(() => stream.destroyed && acceptor.size === 0 && opener.size === 0);
  });

  it('are reset separately', async () => {
    const accepted: MuxStream[] = [];
    const { opener } = pair((stream) => accepted.push(stream));
    const [doomed, other] = [opener.open(), opener.open()];
    await waitFor(() => accepted.length === 2);
    accepted.forEach((stream) => stream.resume());
    const ended = once(accepted[0] as MuxStream, 'error');
    doomed.write(Buffer.from('x'));
    doomed.resetAndDestroy();
    expect((await ended)[0]).toMatchObject({ code: 'ECONNRESET' });
    const received = once(accepted[1] as MuxStream, 'data');
    other.write(Buffer.from('still here'));
    expect(String((await received)[0])).toBe('still here');
  });

  it('with a stalled reader buffer no more than their window, and delay nobody else', async () => {
    const accepted: MuxStream[] = [];
    const { opener, near } = pair((stream) => {
      stream.widen();
      accepted.push(stream);
    });
    const [stuck, quick] = [opener.open(), opener.open()];
    await waitFor(() => accepted.length === 2);
    stuck.write(randomBytes(5_000_000));
    await waitFor(() => near.sent > 1_000_000);
    const got = collect(accepted[1] as MuxStream);
    await send(quick, randomBytes(4_000_000), 60_000);
    expect(await got).toHaveLength(4_000_000);
    // One window of a MiB and what frames add.
    expect(near.sent).toBeLessThan(4_000_000 + 1024 * 1024 + 20_000);
    expect(await Promise.all([collect(accepted[0] as MuxStream), Promise.resolve(stuck.end())])).toMatchObject([
      { length: 5_000_000 },
      undefined,
    ]);
  });

  it('may be sent 16 KiB until they are identified', async () => {
    const { opener, near } = pair(() => undefined);
    opener.open().write(randomBytes(1_000_000));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(near.sent).toBeLessThan(17_000);
  });

  it('can push back bytes that were read too early', async () => {
    const accepted: MuxStream[] = [];
    const { opener } = pair((stream) => accepted.push(stream));
    const stream = opener.open();
    stream.write(Buffer.from('head and body'));
    stream.end();
    await waitFor(() => accepted.length === 1);
    const [far] = accepted as [MuxStream];
    far.once('data', (chunk) => {
      far.pause();
      far.unshift(chunk.subarray(5));
    });
    far.resume();
    await waitFor(() => far.listenerCount('data') === 0);
    expect(String(await collect(far))).toBe('and body');
  });

  it('end with their connection', async () => {
    const { opener, near } = pair(() => undefined);
    const stream = opener.open();
    const error = once(stream, 'error');
    near.destroy();
    expect((await error)[0]).toMatchObject({ code: 'stopped' });
    expect(() => opener.open()).toThrow(TunnelError);
  });
});

describe('an invalid mux frame', () => {
  const bad: [string, Buffer][] = [
    ['an unknown type', muxHeader(9, 0, 1)],
    ['bytes for a stream that was never opened', Buffer.concat([muxHeader(MUX_FRAME.data, 1, 5), Buffer.of(1)])],
    [
      'a stream that was there before',
      Buffer.concat([muxHeader(MUX_FRAME.open, 0, 2), muxHeader(MUX_FRAME.open, 0, 2)]),
    ],
    ['too much for the window', Buffer.concat([muxHeader(MUX_FRAME.open, 0, 1), muxHeader(MUX_FRAME.data, 20_000, 1)])],
    [
      'a frame that is too long',
      Buffer.concat([muxHeader(MUX_FRAME.open, 0, 1), muxHeader(MUX_FRAME.data, 70_000, 1)]),
    ],
    ['a frame without bytes', Buffer.concat([muxHeader(MUX_FRAME.open, 0, 1), muxHeader(MUX_FRAME.data, 0, 1)])],
    [
      'an endless window',
      Buffer.concat([muxHeader(MUX_FRAME.open, 0, 1), muxNumber(MUX_FRAME.window, 1, 0xff_ff_ff_ff)]),
    ],
    [
      'bytes after the end',
      Buffer.concat([muxHeader(MUX_FRAME.open, 0, 1), muxHeader(MUX_FRAME.end, 0, 1), muxHeader(MUX_FRAME.data, 1, 1)]),
    ],
  ];

  it.each(bad)('%s ends the connection', (_, bytes) => {
    const { far, ends } = pair(() => undefined);
    far.handlers?.data(bytes);
    expect(ends).toMatchObject([{ code: 'protocol' }]);
    expect(far.closed).toBe(true);
  });
});
