import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProxyKernel, TrafficDelta } from '@gatehouse/proxy-kernel';
import type { KernelFigures } from '../common/kernel-figures.js';

const RESOLUTION_MS = 20;
/** Older measurements are discarded. */
const WINDOW_MS = 60_000;
/** The kernel reports traffic once a second, while there is any. */
const SPEED_MS = 1_500;

/** Measures what a kernel says about itself. */
export class FigureMeter {
  private readonly kernel: ProxyKernel;
  private readonly delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private measuredSince = performance.now();
  private last: TrafficDelta | null = null;

  constructor(kernel: ProxyKernel) {
    this.kernel = kernel;
    this.delay.enable();
    kernel.on('traffic', (delta) => {
      this.last = delta;
    });
  }

  read(): Omit<KernelFigures, 'revision' | 'draining'> {
    const { generation, listeners, activeConnections, rssBytes } = this.kernel.status();
    const live = this.last !== null && Date.now() - this.last.at < SPEED_MS ? this.last : null;
    return {
      generation,
      listeners,
      connections: activeConnections,
      uploadSpeed: live?.upload ?? 0,
      downloadSpeed: live?.download ?? 0,
      rssBytes,
      loopDelayMs: this.loopDelayMs(),
    };
  }

  /** In ms beyond the sampling interval. */
  private loopDelayMs(): number {
    const { delay } = this;
    const ms = delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS);
    if (performance.now() - this.measuredSince > WINDOW_MS) {
      delay.reset();
      this.measuredSince = performance.now();
    }
    return Math.round(ms * 10) / 10;
  }
}
