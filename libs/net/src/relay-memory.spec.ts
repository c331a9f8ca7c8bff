import { expect, it } from 'vitest';
import { StreamEmitter } from './carried-stream.js';
import { relay, type ByteStream } from './index.js';

/** A stream whose peer takes nothing: what is written waits. */
class FullStream extends StreamEmitter implements ByteStream {
  readonly destroyed = false;
  readonly readableEnded = false;
  readonly copiesAtOnce?: boolean;
  writableLength = 0;
  released = 0;

  constructor(copiesAtOnce?: boolean) {
    super();
    if (copiesAtOnce !== undefined) this.copiesAtOnce = copiesAtOnce;
  }

  write(chunk: Uint8Array): boolean {
    this.writableLength += chunk.length;
    return false;
  }

  release(): void {
    this.released += 1;
  }

  cork(): void {}
  uncork(): void {}
  end(): void {}
  pause(): void {}
  resume(): void {}
  unshift(): void {}
  destroy(): void {}
}

it.each([
  ['keeps a chunk that waits in its own memory', undefined, 0],
  ['gives back the memory of a chunk that waits as a copy', true, 1],
])('%s', (_what, copiesAtOnce, released) => {
  const client = new FullStream();
  relay(client, new FullStream(copiesAtOnce), { upload: 0, download: 0 });
  client.emit('data', Buffer.alloc(1_000));
  expect(client.released).toBe(released);
});
