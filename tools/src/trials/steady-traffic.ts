import { setTimeout as delay } from 'node:timers/promises';

/** One request of a stream, at its end. Times in milliseconds of performance.now(). */
export interface Attempt {
  startedAt: number;
  endedAt: number;
  ok: boolean;
}

/** What users of one stream saw during a fault. */
export interface StreamReport {
  requests: number;
  failed: number;
  /** The longest time in which no request was answered, beyond the pause between two. */
  outageSeconds: number;
  slowestSeconds: number;
}

/** Sends a request at an even pace, whatever becomes of those before; each is on its own. */
export class SteadyTraffic {
  private readonly attempts: Attempt[] = [];
  private readonly underWay = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private paused = false;
  private readonly running: Promise<void>;

  /** `send` rejects, or resolves to false, where a user would have seen a failure. */
  constructor(
    readonly name: string,
    private readonly everyMs: number,
    private readonly send: () => Promise<boolean>,
  ) {
    this.running = this.run();
  }

  /** The requests that ended since, some of which began before. Those that are under way are waited for. */
  async endedSince(since: number): Promise<Attempt[]> {
    const until = performance.now();
    await Promise.all(this.underWay);
    return this.attempts.filter(({ startedAt, endedAt }) => endedAt >= since && startedAt <= until);
  }

  /** What happened to the requests that began since. Those that are under way are waited for. */
  async reportSince(since: number): Promise<StreamReport> {
    const until = performance.now();
    const attempts = (await this.endedSince(since)).filter(({ startedAt }) => startedAt >= since);
    const answered = attempts.filter(({ ok }) => ok);
    let [last, longest] = [since, 0];
    for (const endedAt of answered.map((attempt) => attempt.endedAt).toSorted((a, b) => a - b)) {
      longest = Math.max(longest, endedAt - last);
      last = endedAt;
    }
    longest = Math.max(longest, until - last);
    const slowest = Math.max(0, ...answered.map(({ startedAt, endedAt }) => endedAt - startedAt));
    return {
      requests: attempts.length,
      failed: attempts.length - answered.length,
      outageSeconds: longest <= this.everyMs * 5 ? 0 : longest / 1_000,
      slowestSeconds: slowest / 1_000,
    };
  }

  /** Whether the last few requests were all answered. */
  isWell(last = 10): boolean {
    const recent = this.attempts.slice(-last);
    return recent.length === last && recent.every(({ ok }) => ok);
  }

  /** Begins nothing until resume(); resolves when nothing is under way. */
  async pause(): Promise<void> {
    this.paused = true;
    await Promise.all(this.underWay);
  }

  resume(): void {
    this.paused = false;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await Promise.all(this.underWay);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      if (!this.paused) this.begin();
      await delay(this.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private begin(): void {
    const attempt = this.attempt().finally(() => this.underWay.delete(attempt));
    this.underWay.add(attempt);
  }

  private async attempt(): Promise<void> {
    const startedAt = performance.now();
    const ok = await this.send().catch(() => false);
    this.attempts.push({ startedAt, endedAt: performance.now(), ok });
  }
}
