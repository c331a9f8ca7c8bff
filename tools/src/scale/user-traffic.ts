import { setTimeout as delay } from 'node:timers/promises';

interface Attempt {
  startedAt: number;
  ok: boolean;
}

/** What became of the attempts of some time. */
export interface Tally {
  done: number;
  failed: number;
}

/** A few users who do the same again and again, each after a pause: a slow machine has them wait, and no more of them come. */
export class UserTraffic {
  private readonly attempts: Attempt[] = [];
  private readonly underWay = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly users: Promise<void>[];

  /** `act` rejects where a user sees a failure. */
  constructor(
    users: number,
    private readonly pauseMs: number,
    private readonly act: () => Promise<unknown>,
  ) {
    this.users = Array.from({ length: users }, () => this.user());
  }

  /** Whether the last attempts all succeeded. */
  isWell(last = 5): boolean {
    const recent = this.attempts.slice(-last);
    return recent.length === last && recent.every(({ ok }) => ok);
  }

  /** Of the attempts that began since that moment of performance.now(). Waits for those that are under way. */
  async since(moment: number): Promise<Tally> {
    await Promise.all(this.underWay);
    const attempts = this.attempts.filter(({ startedAt }) => startedAt >= moment);
    return { done: attempts.length, failed: attempts.filter(({ ok }) => !ok).length };
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.users);
  }

  private async user(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const attempt = this.attempt().finally(() => this.underWay.delete(attempt));
      this.underWay.add(attempt);
      await attempt;
      await delay(this.pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async attempt(): Promise<void> {
    const startedAt = performance.now();
    const ok = await this.act().then(
      () => true,
      () => false,
    );
    this.attempts.push({ startedAt, ok });
  }
}
