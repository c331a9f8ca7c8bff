import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';

export interface UserUsage {
  connections: number;
  uploadSpeed: number;
  downloadSpeed: number;
}

/** The cost of asking kernels grows with their open connections, so they are asked at most this often. */
const FRESH_MS = 1_000;

/** What each user does at the moment, at most a second old. */
@Injectable()
export class UserUsages {
  private usages: Promise<ReadonlyMap<string, UserUsage> | null> | null = null;
  private readAt = -Infinity;

  constructor(private readonly kernel: KernelService) {}

  /** By name; null while no kernel answers. */
  read(): Promise<ReadonlyMap<string, UserUsage> | null> {
    if (this.usages && performance.now() - this.readAt < FRESH_MS) return this.usages;
    this.readAt = performance.now();
    this.usages = this.ask();
    return this.usages;
  }

  private async ask(): Promise<ReadonlyMap<string, UserUsage> | null> {
    const usages = new Map<string, UserUsage>();
    try {
      for (const { inboundUser, uploadSpeed, downloadSpeed } of await this.kernel.connections()) {
        if (inboundUser === null) continue;
        const usage = usages.get(inboundUser) ?? { connections: 0, uploadSpeed: 0, downloadSpeed: 0 };
        usage.connections += 1;
        usage.uploadSpeed += uploadSpeed;
        usage.downloadSpeed += downloadSpeed;
        usages.set(inboundUser, usage);
      }
      return usages;
    } catch (error) {
      if (error instanceof AppError && error.code === 'KERNEL_UNAVAILABLE') return null;
      throw error;
    }
  }
}
