import type { LiveUser } from '@gatehouse/contracts';
import type { ConnectionSnapshot } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { liveUsers } from '../dashboard/live-lists.js';
import { unlessDown } from '../kernel-process/kernel-errors.js';
import { KernelService } from '../kernel-process/kernel.service.js';

type Usages = ReadonlyMap<string, LiveUser>;

/** The cost of asking kernels grows with their open connections, so they are asked at most this often. */
const FRESH_MS = 1_000;

/** What each user does at the moment, at most a second old. */
@Injectable()
export class UserUsages {
  private usages: Promise<Usages | null> | null = null;
  private readAt = -Infinity;

  constructor(private readonly kernel: KernelService) {}

  /** By name; null while no kernel answers. */
  read(): Promise<Usages | null> {
    if (this.usages && performance.now() - this.readAt < FRESH_MS) return this.usages;
    this.readAt = performance.now();
    this.usages = this.ask();
    return this.usages;
  }

  private async ask(): Promise<Usages | null> {
    const connections = await unlessDown<ConnectionSnapshot[] | null>(this.kernel.connections(), null);
    return connections && new Map(liveUsers(connections).map((usage) => [usage.user, usage]));
  }
}
