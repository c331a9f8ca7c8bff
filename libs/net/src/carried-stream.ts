import { EventEmitter } from 'node:events';
import { flowEmit } from './flow-boundary.js';
import { resetStream, type ByteStream, type ByteStreamEvents } from './byte-stream.js';

/** Emits the events of a `ByteStream`. */
export interface StreamEmitter extends EventEmitter {
  on<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this;
  once<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this;
  off<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this;
  emit<E extends keyof ByteStreamEvents>(event: E, ...values: Parameters<ByteStreamEvents[E]>): boolean;
}

/** Node's own class, said to know these events alone, and with the boundary of a flow: its subclasses have `destroy`. */
export const StreamEmitter = class extends EventEmitter {} as unknown as new () => StreamEmitter;
StreamEmitter.prototype.emit = flowEmit;

/** A stream that is carried by another one, and is about that what it does not know better. */
export abstract class CarriedStream extends StreamEmitter {
  protected readonly inner: ByteStream;

  constructor(inner: ByteStream) {
    super();
    this.inner = inner;
  }

  get writableLength(): number {
    return this.inner.writableLength;
  }

  get remoteAddress(): string | undefined {
    return this.inner.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.inner.remotePort;
  }

  cork(): void {
    this.inner.cork();
  }

  uncork(): void {
    this.inner.uncork();
  }

  resetAndDestroy(): void {
    resetStream(this.inner);
  }
}
