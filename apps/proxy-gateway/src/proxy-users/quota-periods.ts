import { guarded } from '@gatehouse/net';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';

const DAY_MS = 86_400_000;

/** Gives users the traffic of a new day or month as soon as it begins. */
@Injectable()
export class QuotaPeriods implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly kernel: KernelService) {}

  onApplicationBootstrap(): void {
    this.wait();
  }

  onModuleDestroy(): void {
    if (this.timer) clearTimeout(this.timer);
  }

  private wait(): void {
    const now = Date.now();
    const nextDay = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
    this.timer = setTimeout(
      guarded(null, () => {
        this.wait();
        return this.kernel.sync();
      }),
      nextDay - now,
    );
    this.timer.unref();
  }
}
