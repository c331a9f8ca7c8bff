const FIRST_MS = 50;
const LAST_MS = 800;
/** One that lived this long starts the series of waits anew. */
const STABLE_MS = 10_000;

/** How long to wait before a process that died is started again: the longer, the more of them died young in a row. */
export class RestartWaits {
  private readonly now: () => number;
  private startedAt = 0;
  private deathsInRow = 0;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  /** A process was started, or took over. */
  started(): void {
    this.startedAt = this.now();
  }

  /** It died. Answers milliseconds. */
  died(): number {
    this.deathsInRow = this.now() - this.startedAt >= STABLE_MS ? 0 : this.deathsInRow + 1;
    return Math.min(FIRST_MS * 2 ** Math.max(0, this.deathsInRow - 1), LAST_MS);
  }
}
