export interface ReloadingOptions {
  /** `anew`: what is known may be of another database, and nothing of it is kept. */
  load(anew: boolean): Promise<void>;
  onFailure(error: unknown): void;
}

/** One load at a time; news that come meanwhile make one more. */
export class Reloading {
  private readonly options: ReloadingOptions;
  private running: Promise<void> | null = null;
  private stale = false;
  /** Until a load of everything went well. */
  private anew = false;
  private stopped = false;

  constructor(options: ReloadingOptions) {
    this.options = options;
  }

  /** Resolves when no load runs any more, also after one that failed: the next news try again. */
  news(anew = false): Promise<void> {
    if (this.stopped) return Promise.resolve();
    this.stale = true;
    this.anew ||= anew;
    this.running ??= this.run();
    return this.running;
  }

  /** No other load begins; resolves when the one that runs is over. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    // Not within `news`, which says only then that this runs: a load may bring news itself.
    await Promise.resolve();
    while (this.stale && !this.stopped) await this.loadOnce();
    // In one step with the last look at `stale`: news of the same moment begin a run of their own.
    this.running = null;
  }

  private async loadOnce(): Promise<void> {
    const { anew } = this;
    this.stale = this.anew = false;
    try {
      await this.options.load(anew);
    } catch (error) {
      this.anew ||= anew;
      this.options.onFailure(error);
    }
  }
}
