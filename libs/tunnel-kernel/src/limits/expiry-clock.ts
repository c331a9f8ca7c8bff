import { setFlowTimeout } from '@gatehouse/net';
import type { ClientConfig } from '../config.js';

/** Node's timers take 24.8 days at most, and do not notice when the clock is set. */
const MAX_WAIT_MS = 3_600_000;

/** Reports expired clients at the moment they expire. */
export class ExpiryClock {
  private readonly now: () => number;
  private readonly onExpired: (clientIds: number[]) => void;
  /** Expiry times of clients that have not expired. */
  private pending = new Map<number, number>();
  private timer: NodeJS.Timeout | null = null;

  constructor(now: () => number, onExpired: (clientIds: number[]) => void) {
    this.now = now;
    this.onExpired = onExpired;
  }

  /** Returns the clients that expired since the last configuration. */
  apply(clients: readonly ClientConfig[]): number[] {
    const now = this.now();
    const before = this.pending;
    this.pending = new Map();
    const expired: number[] = [];
    for (const { id, expiresAt } of clients) {
      if (expiresAt === null) continue;
      if (expiresAt > now) this.pending.set(id, expiresAt);
      else if (before.has(id)) expired.push(id);
    }
    this.arm();
    return expired;
  }

  stop(): void {
    this.pending.clear();
    this.arm();
  }

  private arm(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    let next = Infinity;
    for (const at of this.pending.values()) next = Math.min(next, at);
    if (next === Infinity) return;
    this.timer = setFlowTimeout(null, () => this.look(), Math.max(1, Math.min(next - this.now(), MAX_WAIT_MS)));
    this.timer.unref();
  }

  private look(): void {
    const now = this.now();
    const expired = [...this.pending].filter(([, at]) => at <= now).map(([id]) => id);
    for (const id of expired) this.pending.delete(id);
    this.arm();
    if (expired.length > 0) this.onExpired(expired);
  }
}
