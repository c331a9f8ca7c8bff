import type { Throttle, ThrottleWaiter } from '@gatehouse/net';
import { setFlowTimeout } from '@gatehouse/net';

const TICK_MS = 10;
const LEAST_BURST = 64 * 1024;
/** A share of a turn is not smaller: packets of a few bytes would cost more than they carry. */
const LEAST_SHARE = 256;
const GOOD_SHARE = 1460;

/**
 * The bytes of one client, both directions and all resources together: a token bucket that holds one second's worth
 * (64 KiB at least). When it is empty, senders stand in line and get equal shares in turn, every 10 ms. There is no
 * timer while nobody waits.
 */
export class RateLimiter implements Throttle {
  private readonly now: () => number;
  private readonly line = new Set<ThrottleWaiter>();
  private perSecond = 0;
  private tokens = 0;
  private updatedAt = 0;
  private timer: NodeJS.Timeout | null = null;
  /** For datagrams, while others stand in line. */
  private reserved = 0;
  private datagramsCame = false;
  private heldBack = false;

  /** `now` in milliseconds of a clock that never steps. */
  constructor(bytesPerSecond: number, now: () => number = () => performance.now()) {
    this.now = now;
    this.updatedAt = now();
    this.perSecond = bytesPerSecond;
    this.tokens = this.burst;
  }

  /** Bytes a second; Infinity after `lift`. */
  get rate(): number {
    return this.perSecond;
  }

  /** Whether anybody had to wait, or was refused, since the last call. */
  takeHeldBack(): boolean {
    const { heldBack } = this;
    // Who waits still is held back in the time that comes, too.
    this.heldBack = this.line.size > 0;
    return heldBack;
  }

  /** Goes on with another rate; what waits, waits no longer than it takes at the new one. */
  change(bytesPerSecond: number): void {
    this.refill();
    this.perSecond = bytesPerSecond;
    this.tokens = Math.min(this.tokens, this.burst);
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.line.size > 0) this.serve();
  }

  /** No limit any more: all that waits goes. */
  lift(): void {
    this.change(Infinity);
  }

  take(wanted: number): number {
    // Who comes later does not overtake.
    if (this.line.size > 0) return 0;
    return this.draw(wanted);
  }

  enqueue(waiter: ThrottleWaiter): void {
    this.heldBack = true;
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

  /** For what goes at once and whole or not at all: a datagram. False: it is over the limit, to be dropped and counted. */
  tryTake(bytes: number): boolean {
    if (this.line.size > 0) return this.takeReserved(bytes);
    this.refill();
    if (this.tokens < bytes) {
      this.heldBack = true;
      return false;
    }
    this.tokens -= bytes;
    return true;
  }

  /**
   * For a sender that has sent `bytes` already and can be told to wait: true when it may go on; false when it must stop
   * until `resume` is called, once.
   */
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
    return taken;
  }

  /** Datagrams cannot stand in line. Without a share of their own they would leave nothing to those who do. */
  private takeReserved(bytes: number): boolean {
    this.datagramsCame = true;
    if (this.reserved < bytes) return false;
    this.reserved -= bytes;
    return true;
  }

  /** Datagrams together get what one in line gets. */
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

  /** Round after round, in each the same for everybody. */
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
      // To the end of the line, where this loop comes by again as long as there is something to give.
      this.line.delete(waiter);
      this.tokens -= count;
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
