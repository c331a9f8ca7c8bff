import { RateLimiter } from '@gatehouse/net';
import type { ClientConfig } from '../config.js';

/** The rate limiters of clients with a limit. */
export class RateLimits {
  private readonly limiters = new Map<number, RateLimiter>();
  /** The configured limits: a limiter may have less, where other servers use the rest. */
  private readonly limits = new Map<number, number>();

  /** Null: the client has no limit. */
  of(clientId: number): RateLimiter | null {
    return this.limiters.get(clientId) ?? null;
  }

  /** Clients that were delayed since the last call. */
  takeHeldBack(): number[] {
    return [...this.limiters].filter(([, limiter]) => limiter.takeHeldBack()).map(([id]) => id);
  }

  /** Returns the clients that got a limit or lost theirs. */
  apply(clients: readonly ClientConfig[]): Set<number> {
    const changed = new Set<number>();
    const limited = clients.filter(({ rateLimit }) => rateLimit > 0);
    const kept = new Set(limited.map(({ id }) => id));
    for (const [id, limiter] of this.limiters) {
      if (kept.has(id)) continue;
      limiter.lift();
      this.limiters.delete(id);
      this.limits.delete(id);
      changed.add(id);
    }
    for (const { id, rateLimit } of limited) {
      const limiter = this.limiters.get(id);
      if (!limiter) {
        this.limiters.set(id, new RateLimiter(rateLimit));
        changed.add(id);
      } else if (this.limits.get(id) !== rateLimit) limiter.change(rateLimit);
      this.limits.set(id, rateLimit);
    }
    return changed;
  }

  /** What was used since the last call, for `SharedLimits`. */
  *demands(): Iterable<{ clientId: number; limit: number; bytes: number; delayed: boolean }> {
    for (const [clientId, limiter] of this.limiters) {
      yield { clientId, limit: this.limits.get(clientId) ?? 0, ...limiter.takeDemand() };
    }
  }

  /** What this server may use of the client's limit; never more than the limit. */
  setShare(clientId: number, bytesPerSecond: number): void {
    const limiter = this.limiters.get(clientId);
    const rate = Math.min(this.limits.get(clientId) ?? 0, bytesPerSecond);
    if (limiter && limiter.rate !== rate) limiter.change(rate);
  }
}
