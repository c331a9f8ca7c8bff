import { Injectable } from '@nestjs/common';
import { ResourceSharingSettings } from '../settings.js';

const MAX_ADDRESSES = 50_000;
const MINUTE = 60_000;

/**
 * Limits the requests of one client address to the open API, counted in this process. It comes before everything
 * expensive, for callers that are not known yet. API_RATE_LIMIT is the number per minute; 0: no limit.
 */
@Injectable()
export class AddressLimit {
  readonly quota: number;
  private readonly intervalMs: number;
  /** When the budget of each address is full again: GCRA. */
  private readonly arrivals = new Map<string, number>();

  constructor({ apiRateLimit }: ResourceSharingSettings) {
    this.quota = apiRateLimit;
    this.intervalMs = apiRateLimit === 0 ? 0 : MINUTE / apiRateLimit;
  }

  /** Milliseconds to wait; 0 if the request may pass, and then it is counted. */
  hit(address: string, now = performance.now()): number {
    if (this.quota === 0) return 0;
    const known = this.arrivals.get(address);
    const arrival = (known === undefined || known < now ? now : known) + this.intervalMs;
    const over = arrival - now - MINUTE;
    if (over > 1e-6) return over;
    if (known === undefined && this.arrivals.size >= MAX_ADDRESSES) this.makeRoom(now);
    this.arrivals.set(address, arrival);
    return 0;
  }

  /** Drops addresses with a full budget, or else the oldest ones: a lenient limit is better than unlimited memory. */
  private makeRoom(now: number): void {
    let looked = 0;
    for (const [address, arrival] of this.arrivals) {
      if (arrival <= now || looked < 16) this.arrivals.delete(address);
      if (++looked >= 1_024) return;
    }
  }
}
