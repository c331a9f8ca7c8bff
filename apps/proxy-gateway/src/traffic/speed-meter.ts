import type { LiveTraffic } from '../common/kernel-ipc.js';

/** The kernel sends a delta each second while there is traffic, so after this time there is none. */
const STALE_MS = 2_500;
const SECOND = 1_000;

/** Computes a rate from the kernel's deltas. */
export class SpeedMeter {
  #last: { upload: number; download: number; at: number; updatedAt: number } | null = null;

  /** @param now the clock of this process; the kernel's clock only gives the distance between deltas. */
  add(delta: LiveTraffic, now: number): void {
    const since = this.#last === null ? SECOND : delta.at - this.#last.at;
    // After an idle time the bytes still belong to the second before the delta.
    const seconds = Math.min(Math.max(since, SECOND / 2), SECOND * 2) / SECOND;
    this.#last = {
      upload: Math.round(delta.upload / seconds),
      download: Math.round(delta.download / seconds),
      at: delta.at,
      updatedAt: now,
    };
  }

  read(now: number): { upload: number; download: number } {
    if (this.#last === null || now - this.#last.updatedAt > STALE_MS) return { upload: 0, download: 0 };
    return { upload: this.#last.upload, download: this.#last.download };
  }
}

/** Computes the rate of several kernels together. */
export class SpeedMeters<Kernel> {
  readonly #byKernel = new Map<Kernel, SpeedMeter>();

  add(kernel: Kernel, delta: LiveTraffic, now: number): void {
    const meter = this.#byKernel.get(kernel) ?? new SpeedMeter();
    this.#byKernel.set(kernel, meter);
    meter.add(delta, now);
  }

  read(now: number): { upload: number; download: number } {
    const sum = { upload: 0, download: 0 };
    for (const [kernel, meter] of this.#byKernel) {
      const { upload, download } = meter.read(now);
      sum.upload += upload;
      sum.download += download;
      // A kernel may be gone for good.
      if (upload + download === 0) this.#byKernel.delete(kernel);
    }
    return sum;
  }
}
