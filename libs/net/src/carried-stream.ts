import { EventEmitter } from 'node:events';
import { flowEmit } from './flow-boundary.js';
import { resetStream, type ByteStream, type ByteStreamEvents } from './byte-stream.js';

/** Emitter of the events of a `ByteStream`. */
export interface StreamEmitter extends EventEmitter {
  on<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this;
  once<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this;
  off<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this;
  emit<E extends keyof ByteStreamEvents>(event: E, ...values: Parameters<ByteStreamEvents[E]>): boolean;
}

/** Node's class, typed for these events only, with the boundary of a flow. Subclasses must have `destroy`. */
export const StreamEmitter = class extends EventEmitter {} as unknown as new () => StreamEmitter;
StreamEmitter.prototype.emit = flowEmit;

/** A stream that is carried by another one. It answers from that one everything that it does not override. */
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
