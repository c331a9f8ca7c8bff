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
