import type { ByteStream } from './byte-stream.js';

/** A sender that waits for permission to send. */
export interface ThrottleWaiter {
  /** Bytes that wait. */
  readonly waiting: number;
  /** Permits `bytes` of them, at most `waiting`. */
  grant(bytes: number): void;
}

/** Limits a rate of bytes. A sender that gets less than it wants waits in line; nothing is lost. */
export interface Throttle {
  /** Returns how many of `wanted` bytes may be sent now. */
  take(wanted: number): number;
  /** Puts a sender in line until it has nothing `waiting`. */
  enqueue(waiter: ThrottleWaiter): void;
  /** Removes a sender from the line. */
  leave(waiter: ThrottleWaiter): void;
}

/** Limits a rate of bytes for a sender that has already sent them and can be paused. */
export interface Pacer {
  /** True: the sender may continue. False: it must stop until `resume` is called, once. */
  pass(bytes: number, resume: () => void): boolean;
}

/** One direction of a relay, with the part of the last chunk that may not be sent yet. */
export interface ThrottledDirection {
  readonly from: ByteStream;
  readonly to: ByteStream;
  held: Buffer | null;
  /** Whether the end was read while something was held. */
  ended: boolean;
}

export function throttledDirection(from: ByteStream, to: ByteStream): ThrottledDirection {
  return { from, to, held: null, ended: false };
}

/**
 * Both directions of a relay wait in line as one sender, so that a connection that sends both ways gets no more than others.
 * At most one chunk is held for each direction.
 */
export class RelayThrottle implements ThrottleWaiter {
  private readonly throttle: Throttle;
  private readonly directions: readonly [ThrottledDirection, ThrottledDirection];

  constructor(throttle: Throttle, directions: readonly [ThrottledDirection, ThrottledDirection]) {
    this.throttle = throttle;
    this.directions = directions;
    if (this.waiting > 0) throttle.enqueue(this);
  }

  get waiting(): number {
    const [up, down] = this.directions;
    return (up.held?.length ?? 0) + (down.held?.length ?? 0);
  }

  /** Sends as much of a chunk as is permitted. If a part is left, it is held and the reader is paused. */
  pass(direction: ThrottledDirection, chunk: Buffer): void {
    // A paused reader may still deliver what it had read before; that goes behind what is held.
    if (direction.held) {
      direction.held = Buffer.concat([direction.held, chunk]);
      return;
    }
    const count = this.throttle.take(chunk.length);
    if (count === chunk.length) return send(direction, chunk);
    if (count > 0) direction.to.write(chunk.subarray(0, count));
    direction.held = chunk.subarray(count);
    direction.from.pause();
    this.throttle.enqueue(this);
  }

  grant(bytes: number): void {
    const [up, down] = this.directions;
    const half = Math.ceil(bytes / 2);
    const upload = Math.min(up.held?.length ?? 0, Math.max(half, bytes - (down.held?.length ?? 0)));
    release(up, upload);
    release(down, bytes - upload);
  }

  leave(): void {
    this.throttle.leave(this);
  }
}

function send({ from, to }: ThrottledDirection, chunk: Buffer): void {
  if (!to.write(chunk) && to.writableLength > 0) from.pause();
  if (from.release && to.writableLength === 0) from.release();
}

/** Sends `bytes` of what is held. */
export function release(direction: ThrottledDirection, bytes: number): void {
  const { held, from, to } = direction;
  if (!held || bytes === 0) return;
  direction.held = bytes < held.length ? held.subarray(bytes) : null;
  if (to.destroyed) return;
  const room = to.write(held.subarray(0, bytes)) || to.writableLength === 0;
  if (direction.held) return;
  if (direction.ended) to.end();
  else if (room) from.resume();
}
