import { Socket } from 'node:net';
import { flowEmit } from './flow-boundary.js';
import { deliverTo, ReadMemory } from './read-memory.js';

/**
 * An outgoing TCP socket that reuses its read buffer: about 30 % less CPU per byte than a new buffer for each read. To its
 * listeners it is a socket like any other. A listener that calls `release()` inside a `data` event promises that it kept
 * no part of the chunk; only then is the memory used for the next read.
 *
 * A quiet socket has 8 KiB. One that fills them reads 64 and then 256 KiB at a time, until a short read ends the burst.
 */
export class DialedSocket extends Socket {
  private readonly memory: ReadMemory;

  constructor() {
    const memory: ReadMemory = new ReadMemory((chunk) => deliverTo(this, chunk));
    super({
      allowHalfOpen: true,
      onread: { buffer: () => memory.nextBuffer(), callback: (bytes: number) => memory.received(bytes) },
    });
    this.memory = memory;
    this.on('close', () => memory.recycle());
  }

  release(): void {
    this.memory.release();
  }
}

DialedSocket.prototype.emit = flowEmit;
