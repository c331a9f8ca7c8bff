export interface ReloadingOptions {
  /** `anew`: the database may be another one, so nothing of the known state may be kept. */
  load(anew: boolean): Promise<void>;
  onFailure(error: unknown): void;
}

/** Runs one load at a time; changes during a load cause one more. */
export class Reloading {
  private readonly options: ReloadingOptions;
  private running: Promise<void> | null = null;
  private stale = false;
  /** Stays set until a full load succeeded. */
  private anew = false;
  private stopped = false;

  constructor(options: ReloadingOptions) {
    this.options = options;
  }

  /** Resolves when no load is running, also after a failure: the next change tries again. */
  news(anew = false): Promise<void> {
    if (this.stopped) return Promise.resolve();
    this.stale = true;
    this.anew ||= anew;
    this.running ??= this.run();
    return this.running;
  }

  /** Starts no further loads; resolves when the running one has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    // Deferred, so that `news` has marked this as running: a load may cause changes itself.
    await Promise.resolve();
    while (this.stale && !this.stopped) await this.loadOnce();
    // In one step with the last check of `stale`: a change at this moment starts a new run.
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
