import { RateLimiter, type ThrottleWaiter } from '@gatehouse/net';
import type { FlowThrottle } from '../interfaces/index.js';

export interface TrafficLimits {
  /** Bytes per second; Infinity: no limit. */
  rate: number;
  /** The bytes that may still be carried; Infinity: no limit. */
  left: number;
}

/**
 * The rate and the remaining traffic of a user, all connections together. Senders get no byte beyond what is left; then
 * `onSpent` is called, once until `change` gives more.
 */
export class UserThrottle implements FlowThrottle {
  readonly #limiter: RateLimiter;
  readonly #onSpent: () => void;
  readonly #inLine = new Map<ThrottleWaiter, ThrottleWaiter>();
  #left: number;

  constructor({ rate, left }: TrafficLimits, onSpent: () => void) {
    this.#limiter = new RateLimiter(rate);
    this.#left = left;
    this.#onSpent = onSpent;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  change({ rate, left }: TrafficLimits): void {
    this.#left = left;
    if (this.#limiter.rate !== rate) this.#limiter.change(rate);
  }

  take(wanted: number): number {
    const taken = this.#limiter.take(Math.min(wanted, this.#left));
    this.#spend(taken);
    return taken;
  }

  /** What waits beyond the remaining traffic is never granted; the flow ends instead. */
  enqueue(waiter: ThrottleWaiter): void {
    if (this.isSpent) return;
    const bounded = this.#inLine.get(waiter) ?? this.#bounded(waiter);
    this.#inLine.set(waiter, bounded);
    this.#limiter.enqueue(bounded);
  }

  leave(waiter: ThrottleWaiter): void {
    const bounded = this.#inLine.get(waiter);
    if (!bounded) return;
    this.#inLine.delete(waiter);
    this.#limiter.leave(bounded);
  }

  tryTake(bytes: number): boolean {
    if (this.isSpent) return false;
    // It does not fit, and no later one is carried instead of it.
    if (bytes > this.#left) this.#spend(this.#left);
    else if (this.#limiter.tryTake(bytes)) {
      this.#spend(bytes);
      return true;
    }
    return false;
  }

  pass(bytes: number, resume: () => void): boolean {
    this.#spend(bytes);
    return this.#limiter.pass(bytes, resume);
  }

  #bounded(waiter: ThrottleWaiter): ThrottleWaiter {
    const allowed = (): number => Math.max(0, Math.min(waiter.waiting, this.#left));
    return {
      get waiting() {
        return allowed();
      },
      grant: (bytes) => {
        waiter.grant(bytes);
        if (waiter.waiting === 0) this.#inLine.delete(waiter);
        this.#spend(bytes);
      },
    };
  }

  #spend(bytes: number): void {
    if (this.isSpent) return;
    this.#left -= bytes;
    if (this.isSpent) this.#onSpent();
  }
}
