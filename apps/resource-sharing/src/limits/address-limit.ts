import { Injectable } from '@nestjs/common';
import { ResourceSharingSettings } from '../settings.js';

const MAX_ADDRESSES = 50_000;
const MINUTE = 60_000;

/**
 * Requests of one client address to the open API, counted in this process: it comes before everything that costs, for
 * callers that nobody knows yet. API_RATE_LIMIT says how many a minute; 0: any number.
 */
@Injectable()
export class AddressLimit {
  readonly quota: number;
  private readonly intervalMs: number;
  /** When each address is as good as new: GCRA. */
  private readonly arrivals = new Map<string, number>();

  constructor({ apiRateLimit }: ResourceSharingSettings) {
    this.quota = apiRateLimit;
    this.intervalMs = apiRateLimit === 0 ? 0 : MINUTE / apiRateLimit;
  }

  /** Milliseconds to wait; 0 when the request may pass, which it then has. */
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

  /** Addresses that are as good as new say nothing; else the oldest go: better a lenient limit than no memory. */
  private makeRoom(now: number): void {
    let looked = 0;
    for (const [address, arrival] of this.arrivals) {
      if (arrival <= now || looked < 16) this.arrivals.delete(address);
      if (++looked >= 1_024) return;
    }
  }
}
