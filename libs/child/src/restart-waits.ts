export interface RestartWaitsOptions {
  /** After the first death in a row; it doubles with each more. */
  firstMs: number;
  lastMs: number;
  /** A process that lived this long starts the series of waits again. */
  stableMs: number;
  now: () => number;
}

const DEFAULTS: RestartWaitsOptions = { firstMs: 50, lastMs: 800, stableMs: 10_000, now: () => Date.now() };

/** How long to wait before a process that died is started again: the longer, the more of them died young in a row. */
export class RestartWaits {
  private readonly options: RestartWaitsOptions;
  private startedAt = 0;
  private inRow = 0;

  constructor(options: Partial<RestartWaitsOptions> = {}) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** Deaths since the last process that was stable. */
  get deathsInRow(): number {
    return this.inRow;
  }

  /** A process was started, or took over. */
  started(): void {
    this.startedAt = this.options.now();
  }

  /** It died. Answers milliseconds. */
  died(): number {
    const { firstMs, lastMs, stableMs, now } = this.options;
    this.inRow = now() - this.startedAt >= stableMs ? 0 : this.inRow + 1;
    return Math.min(firstMs * 2 ** Math.max(0, this.inRow - 1), lastMs);
  }
}
