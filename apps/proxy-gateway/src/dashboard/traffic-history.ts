import type { DashboardSeriesPoint } from '@gatehouse/contracts';
import type { LiveTraffic } from '../common/kernel-ipc.js';

const SECOND_MS = 1_000;
const SLOTS = 3_600;

/** The bytes moved in each second of the last hour. */
export class TrafficHistory {
  /** The second since the epoch that each slot holds; a slot with another value is outdated. */
  readonly #seconds = new Float64Array(SLOTS);
  readonly #up = new Float64Array(SLOTS);
  readonly #down = new Float64Array(SLOTS);

  add({ at, upload, download }: LiveTraffic): void {
    const second = Math.floor(at / SECOND_MS);
    const slot = second % SLOTS;
    if (this.#seconds[slot] !== second) {
      this.#seconds[slot] = second;
      this.#up[slot] = 0;
      this.#down[slot] = 0;
    }
    this.#up[slot]! += upload;
    this.#down[slot]! += download;
  }

  /**
   * The last `points` intervals including the current one; intervals without traffic are zero.
   * @param stepSec a divisor of 3600; points × step is at most an hour.
   */
  series(now: number, stepSec: number, points: number): DashboardSeriesPoint[] {
    const last = Math.floor(now / SECOND_MS / stepSec) * stepSec;
    return Array.from({ length: points }, (_, index) => {
      const start = last - (points - 1 - index) * stepSec;
      return { t: new Date(start * SECOND_MS).toISOString(), ...this.#sum(start, stepSec) };
    });
  }

  #sum(start: number, length: number): { up: number; down: number } {
    const sum = { up: 0, down: 0 };
    for (let second = start; second < start + length; second++) {
      const slot = second % SLOTS;
      if (this.#seconds[slot] !== second) continue;
      sum.up += this.#up[slot]!;
      sum.down += this.#down[slot]!;
    }
    return sum;
  }
}
