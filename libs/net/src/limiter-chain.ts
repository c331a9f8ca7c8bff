import type { RateLimiter } from './rate-limiter.js';
import type { Pacer, Throttle, ThrottleWaiter } from './relay-throttle.js';

/**
 * Two limits for the same bytes, such as that of a tunnel and that of its client: a sender waits for its turn at the first
 * and then at the second, so that neither carries more than its own rate.
 */
export class LimiterChain implements Throttle, Pacer {
  readonly first: RateLimiter;
  readonly second: RateLimiter;
  private readonly steps = new Map<ThrottleWaiter, ChainedWaiter>();

  constructor(first: RateLimiter, second: RateLimiter) {
    this.first = first;
    this.second = second;
  }

  take(wanted: number): number {
    const allowed = this.first.take(wanted);
    const taken = allowed === 0 ? 0 : this.second.take(allowed);
    this.first.giveBack(allowed - taken);
    return taken;
  }

  enqueue(waiter: ThrottleWaiter): void {
    const step = this.steps.get(waiter) ?? new ChainedWaiter(waiter, this.second, () => this.steps.delete(waiter));
    this.steps.set(waiter, step);
    // Only who has to wait at the first counts as delayed by it.
    const allowed = this.first.take(step.waiting);
    if (allowed > 0) step.grant(allowed);
    if (step.waiting > 0) this.first.enqueue(step);
  }

  leave(waiter: ThrottleWaiter): void {
    const step = this.steps.get(waiter);
    if (!step) return;
    this.steps.delete(waiter);
    this.first.leave(step);
    this.second.leave(step.rest);
  }

  /** As `RateLimiter.tryTake`. */
  tryTake(bytes: number): boolean {
    if (!this.first.tryTake(bytes)) return false;
    if (this.second.tryTake(bytes)) return true;
    this.first.giveBack(bytes);
    return false;
  }

  pass(bytes: number, resume: () => void): boolean {
    const passed = this.first.pass(bytes, () => {
      if (this.second.pass(bytes, resume)) resume();
    });
    return passed && this.second.pass(bytes, resume);
  }
}

/** A sender at the first limit. What that one has permitted waits at the second one, as `rest`. */
class ChainedWaiter implements ThrottleWaiter {
  readonly rest: ThrottleWaiter;
  private readonly waiter: ThrottleWaiter;
  private readonly second: RateLimiter;
  private readonly onDone: () => void;
  private pending = 0;

  constructor(waiter: ThrottleWaiter, second: RateLimiter, onDone: () => void) {
    this.waiter = waiter;
    this.second = second;
    this.onDone = onDone;
    const pending = (): number => this.pending;
    this.rest = {
      get waiting() {
        return pending();
      },
      grant: (bytes) => {
        this.pending -= bytes;
        this.send(bytes);
      },
    };
  }

  get waiting(): number {
    return this.waiter.waiting - this.pending;
  }

  grant(bytes: number): void {
    const now = this.pending > 0 ? 0 : this.second.take(bytes);
    const rest = bytes - now;
    this.pending += rest;
    if (rest > 0) this.second.enqueue(this.rest);
    if (now > 0) this.send(now);
  }

  private send(bytes: number): void {
    this.waiter.grant(bytes);
    if (this.waiter.waiting === 0 && this.pending === 0) this.onDone();
  }
}
