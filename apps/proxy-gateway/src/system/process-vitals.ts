import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';

/** Age at which what was measured no longer says anything of now. */
const WINDOW_MS = 60_000;

/** How busy this process is, measured between one question and the next. */
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

  /** 99th percentile over the last minute or so, ms beyond the sampling interval. */
  lagP99Ms(): number {
    const lag = this.delay.count === 0 ? 0 : Math.max(0, this.delay.percentile(99) / 1e6 - 50);
    if (performance.now() - this.measuredSince > WINDOW_MS) {
      this.delay.reset();
      this.measuredSince = performance.now();
    }
    return Math.round(lag * 10) / 10;
  }

  /** Of one core, since the question before (at least a second ago); 100 is one core busy all the time. */
  cpuPercent(): number {
    const elapsedMs = performance.now() - this.cpu.at;
    const { user, system } = process.cpuUsage(this.cpu.usage);
    if (elapsedMs >= 1_000) this.cpu = { at: performance.now(), usage: process.cpuUsage() };
    return elapsedMs === 0 ? 0 : Math.round(((user + system) / 1000 / elapsedMs) * 1000) / 10;
  }
}
