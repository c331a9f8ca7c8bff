import type { ClientConfig } from '../config.js';
import { RateLimiter } from './rate-limiter.js';

/** The rate limiters of clients with a limit. */
export class RateLimits {
  private readonly limiters = new Map<number, RateLimiter>();

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
      changed.add(id);
    }
    for (const { id, rateLimit } of limited) {
      const limiter = this.limiters.get(id);
      if (!limiter) {
        this.limiters.set(id, new RateLimiter(rateLimit));
        changed.add(id);
      } else if (limiter.rate !== rateLimit) limiter.change(rateLimit);
    }
    return changed;
  }
}
