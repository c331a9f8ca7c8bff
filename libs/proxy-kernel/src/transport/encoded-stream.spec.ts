import { once } from 'node:events';
import net from 'node:net';
import { DialedSocket, StreamEmitter, type ByteStream } from '@gatehouse/net';
import { describe, expect, it } from 'vitest';
import { EncodedStream } from './encoded-stream.js';

/** Is destroyed at once, and emits `close` in a later turn, like a socket. */
class Carrier extends StreamEmitter implements ByteStream {
  destroyed = false;
  readableEnded = false;
  writableLength = 0;
  write = (): boolean => true;
  end(): void {}
  pause(): void {}
  resume(): void {}
  unshift(): void {}
  cork(): void {}
  uncork(): void {}

  destroy(): void {
    this.destroyed = true;
    setImmediate(() => this.emit('close'));
  }
}

class Plain extends EncodedStream {
  protected encode(chunk: Uint8Array): void {
    this.put(chunk);
  }

  protected decode(bytes: Buffer): void {
    this.give(bytes);
  }
}

/** Marks the end inside the stream, as VMess does. */
class EndedByZero extends Plain {
  protected override get halfCloses(): boolean {
    return false;
  }

  protected override decode(bytes: Buffer): void {
    const end = bytes.indexOf(0);
    this.give(end < 0 ? bytes : bytes.subarray(0, end));
    if (end >= 0) this.endReading();
  }
}

describe('EncodedStream', () => {
  it.each([
    ['reset', (stream: Plain) => stream.resetAndDestroy()],
    ['destroyed', (stream: Plain) => stream.destroy()],
  ])('closes when its owner has %s it after the other end was done', async (_name, abandon) => {
    const carrier = new Carrier();
    const stream = new Plain(carrier);
    let closed = 0;
    stream.on('close', () => (closed += 1));
    stream.resume();
    carrier.emit('end');
    abandon(stream);
    await expect.poll(() => closed).toBe(1);
  });

  it('delays its close for an owner that has not ended yet', async () => {
    const carrier = new Carrier();
    const stream = new Plain(carrier);
    let closed = 0;
    stream.on('close', () => (closed += 1));
    stream.resume();
    carrier.emit('end');
    carrier.emit('close');
    expect(closed).toBe(0);
    stream.end();
    await expect.poll(() => closed).toBe(1);
  });

  it('closes if its end came while its owner was slow', async () => {
    const server = net.createServer((socket) => socket.end('last words\0')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    const socket = new DialedSocket();
    socket.connect({ port, host: '127.0.0.1' });
    const stream = new EndedByZero(socket);
    const read: string[] = [];
    stream.on('data', (chunk) => {
      read.push(chunk.toString());
      stream.pause();
      setImmediate(() => stream.resume());
    });
    stream.on('end', () => stream.end());
    stream.resume();
    await once(stream, 'close');
    expect(read).toEqual(['last words']);
    server.close();
  });
});
