export interface ReloadingOptions {
  /** `everything`: the database may be a different one, so the known state must be dropped. */
  load(everything: boolean): Promise<void>;
  onFailure(error: unknown): void;
}

/** Runs one load at a time; changes during a load cause one more. */
export class Reloading {
  private readonly options: ReloadingOptions;
  private running: Promise<void> | null = null;
  private stale = false;
  /** Stays set until a full load succeeded. */
  private everything = false;
  private stopped = false;

  constructor(options: ReloadingOptions) {
    this.options = options;
  }

  /** Resolves when no load is running, also after a failure: the next change tries again. */
  news(everything = false): Promise<void> {
    if (this.stopped) return Promise.resolve();
    this.stale = true;
    this.everything ||= everything;
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
    const { everything } = this;
    this.stale = this.everything = false;
    try {
      await this.options.load(everything);
    } catch (error) {
      this.everything ||= everything;
      this.options.onFailure(error);
    }
  }
}
