import { setFlowTimeout } from './flow-boundary.js';
import type { Pacer, Throttle, ThrottleWaiter } from './relay-throttle.js';

const TICK_MS = 10;
const LEAST_BURST = 64 * 1024;
/** Minimum share per turn: smaller packets would cost more than they carry. */
const LEAST_SHARE = 256;
const GOOD_SHARE = 1460;

/**
 * Limits the bytes of one client or user, both directions and all connections together: a token bucket that holds one second's
 * worth (64 KiB at least). When it is empty, senders queue and get equal shares in turn, every 10 ms. No timer runs
 * while nobody waits.
 */
export class RateLimiter implements Throttle, Pacer {
  private readonly now: () => number;
  private readonly line = new Set<ThrottleWaiter>();
  private perSecond = 0;
  private tokens = 0;
  private updatedAt = 0;
  private timer: NodeJS.Timeout | null = null;
  /** Reserved for datagrams while others queue. */
  private reserved = 0;
  private datagramsCame = false;
  private heldBack = false;
  /** Since the last `takeDemand`. */
  private carried = 0;
  private delayed = false;

  /** `now` in milliseconds of a monotonic clock. */
  constructor(bytesPerSecond: number, now: () => number = () => performance.now()) {
    this.now = now;
    this.updatedAt = now();
    this.perSecond = bytesPerSecond;
    this.tokens = this.burst;
  }

  /** Bytes per second; Infinity after `lift`. */
  get rate(): number {
    return this.perSecond;
  }

  /** Whether anybody had to wait, or was refused, since the last call. */
  takeHeldBack(): boolean {
    const { heldBack } = this;
    // A sender that still waits is also delayed in the next period.
    this.heldBack = this.line.size > 0;
    return heldBack;
  }

  /** The bytes granted since the last call, and whether a sender had to wait for more. */
  takeDemand(): { bytes: number; delayed: boolean } {
    const demand = { bytes: this.carried, delayed: this.delayed || this.line.size > 0 };
    this.carried = 0;
    this.delayed = false;
    return demand;
  }

  /** Changes the rate; waiting senders continue at the new one. */
  change(bytesPerSecond: number): void {
    this.refill();
    this.perSecond = bytesPerSecond;
    this.tokens = Math.min(this.tokens, this.burst);
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.line.size > 0) this.serve();
  }

  /** Removes the limit: all waiting senders continue. */
  lift(): void {
    this.change(Infinity);
  }

  take(wanted: number): number {
    // Later senders do not overtake.
    if (this.line.size > 0) return 0;
    return this.draw(wanted);
  }

  /** Bytes that were granted and will not be sent. */
  giveBack(bytes: number): void {
    this.tokens = Math.min(this.burst, this.tokens + bytes);
    this.carried -= bytes;
  }

  enqueue(waiter: ThrottleWaiter): void {
    this.heldBack = true;
    this.delayed = true;
    this.line.add(waiter);
    this.schedule();
  }

  leave(waiter: ThrottleWaiter): void {
    this.line.delete(waiter);
    if (this.line.size > 0) return;
    this.giveBackReserved();
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  /** For datagrams, which are sent whole at once or not at all. False: over the limit, to be dropped and counted. */
  tryTake(bytes: number): boolean {
    if (this.line.size > 0) return this.takeReserved(bytes);
    this.refill();
    if (this.tokens < bytes) {
      this.heldBack = true;
      this.delayed = true;
      return false;
    }
    this.tokens -= bytes;
    this.carried += bytes;
    return true;
  }

  pass(bytes: number, resume: () => void): boolean {
    let waiting = bytes - this.take(bytes);
    if (waiting === 0) return true;
    this.enqueue({
      get waiting() {
        return waiting;
      },
      grant: (count) => {
        waiting -= count;
        if (waiting === 0) resume();
      },
    });
    return false;
  }

  private get burst(): number {
    return Math.max(this.perSecond, LEAST_BURST);
  }

  private draw(wanted: number): number {
    this.refill();
    const taken = Math.min(wanted, Math.floor(this.tokens));
    this.tokens -= taken;
    this.carried += taken;
    return taken;
  }

  /** Datagrams cannot queue. Without a reserved share they would leave nothing to those that do. */
  private takeReserved(bytes: number): boolean {
    this.datagramsCame = true;
    if (this.reserved < bytes) return false;
    this.reserved -= bytes;
    this.carried += bytes;
    return true;
  }

  /** All datagrams together get the share of one queued sender. */
  private reserve(): void {
    if (!this.datagramsCame) return;
    this.datagramsCame = false;
    const share = Math.min(this.tokens / (this.line.size + 1), LEAST_BURST - this.reserved);
    this.reserved += share;
    this.tokens -= share;
  }

  private giveBackReserved(): void {
    this.tokens += this.reserved;
    this.reserved = 0;
  }

  private refill(): void {
    const now = this.now();
    if (this.perSecond === Infinity) this.tokens = Infinity;
    else this.tokens = Math.min(this.burst, this.tokens + ((now - this.updatedAt) * this.perSecond) / 1000);
    this.updatedAt = now;
  }

  private get leastShare(): number {
    return Math.min(GOOD_SHARE, Math.max(LEAST_SHARE, this.perSecond / 100));
  }

  /** Round after round, with equal shares for all. */
  private serve(): void {
    this.refill();
    this.reserve();
    let share = 0;
    let turns = 0;
    for (const waiter of this.line) {
      if (turns === 0) {
        turns = this.line.size;
        share = Math.floor(Math.max(this.leastShare, this.tokens / turns));
      }
      turns -= 1;
      const count = Math.min(waiter.waiting, share);
      if (count > this.tokens) break;
      // Moves the sender to the end of the queue; this loop reaches it again while there is something to give.
      this.line.delete(waiter);
      this.tokens -= count;
      this.carried += count;
      waiter.grant(count);
      if (waiter.waiting > 0) this.line.add(waiter);
    }
    this.schedule();
  }

  private schedule(): void {
    const [first] = this.line;
    if (!first) return this.giveBackReserved();
    if (this.timer) return;
    const missing = Math.min(first.waiting, this.leastShare) - this.tokens;
    const delay = Math.max(TICK_MS, Math.ceil((missing * 1000) / this.perSecond));
    this.timer = setFlowTimeout(
      null,
      () => {
        this.timer = null;
        this.serve();
      },
      delay,
    );
    this.timer.unref();
  }
}
