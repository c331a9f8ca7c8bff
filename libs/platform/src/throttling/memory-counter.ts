import type { WindowCounter, WindowState } from './fixed-window.js';

interface Window {
  hits: number;
  endsAt: number;
}

/**
 * Windows of this process. If the map is full, the oldest window is dropped: a lenient limit is better than unlimited
 * memory.
 */
export class MemoryWindowCounter implements WindowCounter {
  private readonly windows = new Map<string, Window>();
  private readonly maxKeys: number;

  constructor(maxKeys = 50_000) {
    this.maxKeys = maxKeys;
  }

  get size(): number {
    return this.windows.size;
  }

  hit(key: string, windowMs: number): Promise<WindowState> {
    const now = Date.now();
    const known = this.windows.get(key);
    if (known !== undefined && known.endsAt > now) {
      known.hits += 1;
      return Promise.resolve({ hits: known.hits, remainingMs: known.endsAt - now });
    }
    this.windows.delete(key);
    this.windows.set(key, { hits: 1, endsAt: now + windowMs });
    if (this.windows.size > this.maxKeys) this.makeRoom(now);
    return Promise.resolve({ hits: 1, remainingMs: windowMs });
  }

  private makeRoom(now: number): void {
    let scanned = 0;
    for (const [key, { endsAt }] of this.windows) {
      if (scanned === 0 || endsAt <= now) this.windows.delete(key);
      scanned += 1;
      if (scanned > 16) return;
    }
  }
}
