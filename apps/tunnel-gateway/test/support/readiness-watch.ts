import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@gatehouse/testing';

const EVERY_MS = 50;

/** Asks a service for `/readyz` again and again, as a load balancer does. */
export class ReadinessWatch {
  private readonly failures: { at: number; answer: string }[] = [];
  private asked = 0;
  private over = false;
  private readonly ended: Promise<void>;

  private constructor(url: string) {
    this.ended = this.run(url);
  }

  /** Resolves when it was ready for the first time. */
  static async begin(url: string): Promise<ReadinessWatch> {
    const watch = new ReadinessWatch(url);
    await waitFor(() => watch.asked > watch.failures.length);
    watch.failures.length = 0;
    return watch;
  }

  /** The answers that were not 200. `before`: as `performance.now()`; what came later is left out. */
  async end(before = Infinity): Promise<string[]> {
    this.over = true;
    await this.ended;
    return this.failures.filter(({ at }) => at < before).map(({ answer }) => answer);
  }

  private async run(url: string): Promise<void> {
    for (; !this.over; await delay(EVERY_MS)) {
      const response = await fetch(`${url}/readyz`);
      const body = await response.text();
      if (response.status !== 200) {
        this.failures.push({ at: performance.now(), answer: `${response.status} ${body}` });
      }
      this.asked += 1;
    }
  }
}
