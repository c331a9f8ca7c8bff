import type { ByteStream } from './byte-stream.js';

/** Bytes that wait for their turn. */
export interface ThrottleWaiter {
  /** How many. */
  readonly waiting: number;
  /** `bytes` of them may go now; called with `waiting` at most. */
  grant(bytes: number): void;
}

/** Meters out bytes. Whoever gets less than it wants waits in line; nothing is lost. */
export interface Throttle {
  /** Takes what may go at once, `wanted` at most. */
  take(wanted: number): number;
  /** Waits in line until nothing of it is `waiting`. */
  enqueue(waiter: ThrottleWaiter): void;
  /** Gives up its place. */
  leave(waiter: ThrottleWaiter): void;
}

/** One direction of a relay that is held back: what of the last chunk may not go yet. */
export interface ThrottledDirection {
  readonly from: ByteStream;
  readonly to: ByteStream;
  held: Buffer | null;
  /** The end came while something was held. */
  ended: boolean;
}

export function throttledDirection(from: ByteStream, to: ByteStream): ThrottledDirection {
  return { from, to, held: null, ended: false };
}

/**
 * Both directions of one relay, in line as one, so that a connection that sends both ways gets no more than one that does not.
 * It holds one chunk each way at most.
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

  /** Sends what may go of a chunk; with a rest it keeps the chunk, and the reader is paused. */
  pass(direction: ThrottledDirection, chunk: Buffer): void {
    // Bytes that come although the reader is paused (it had read them already) go behind those that are held.
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

/** Lets `bytes` of what is held go. */
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
