import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';

/** Measurements older than this are discarded. */
const WINDOW_MS = 60_000;

/** How busy this process is, measured between two calls. */
@Injectable()
export class ProcessVitals implements OnModuleInit, OnModuleDestroy {
  private readonly delay = monitorEventLoopDelay({ resolution: 50 });
  private measuredSince = performance.now();
  private cpu = { at: performance.now(), usage: process.cpuUsage() };

  onModuleInit(): void {
    this.delay.enable();
  }

  onModuleDestroy(): void {
    this.delay.disable();
  }

  /** The 99th percentile over about the last minute, in ms beyond the sampling interval. */
  lagP99Ms(): number {
    const lag = this.delay.count === 0 ? 0 : Math.max(0, this.delay.percentile(99) / 1e6 - 50);
    if (performance.now() - this.measuredSince > WINDOW_MS) {
      this.delay.reset();
      this.measuredSince = performance.now();
    }
    return Math.round(lag * 10) / 10;
  }

  /** Percent of one core since the previous call (at least a second ago). */
  cpuPercent(): number {
    const elapsedMs = performance.now() - this.cpu.at;
    const { user, system } = process.cpuUsage(this.cpu.usage);
    if (elapsedMs >= 1_000) this.cpu = { at: performance.now(), usage: process.cpuUsage() };
    return elapsedMs === 0 ? 0 : Math.round(((user + system) / 1000 / elapsedMs) * 1000) / 10;
  }
}
