const WINDOW = 2048;

/** Remembers which of the last packet ids were seen, so that each counts once (as RFC 6479). */
export class ReplayWindow {
  private readonly seen = new Uint8Array(WINDOW);
  /** Highest id so far. */
  private last = -1;

  /** True the first time. False: seen before, or too old to tell. */
  accept(id: number): boolean {
    if (id <= this.last - WINDOW) return false;
    if (id > this.last) {
      const fresh = Math.min(id - this.last, WINDOW);
      for (let step = 0; step < fresh; step += 1) this.seen[(id - step) % WINDOW] = 0;
      this.last = id;
    } else if (this.seen[id % WINDOW] === 1) return false;
    this.seen[id % WINDOW] = 1;
    return true;
  }
}
