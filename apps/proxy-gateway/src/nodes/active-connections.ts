import { Injectable } from '@nestjs/common';
import { unlessDown } from '../kernel-process/kernel-errors.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { nodeIdOf } from '../data/flow-names.js';

export type ConnectionCounts = ReadonlyMap<number, number>;

/**
 * The cost of asking the kernel grows with its open connections, so it is asked at most this often, however many pages
 * are read.
 */
const FRESH_MS = 1_000;

/** The number of open connections of each node, at most a second old. */
@Injectable()
export class ActiveConnections {
  private counts: ConnectionCounts | null = null;
  private readAt = -Infinity;
  private reading: Promise<ConnectionCounts | null> | null = null;

  constructor(private readonly kernel: KernelService) {}

  /** By node id; null while the kernel is down. */
  async perNode(): Promise<ConnectionCounts | null> {
    if (performance.now() - this.readAt < FRESH_MS) return this.counts;
    this.reading ??= this.read().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async read(): Promise<ConnectionCounts | null> {
    this.counts = await unlessDown<ConnectionCounts | null>(this.count(), null);
    this.readAt = performance.now();
    return this.counts;
  }

  private async count(): Promise<ConnectionCounts> {
    const { activeConnections } = await this.kernel.status();
    const counts = new Map<number, number>();
    if (activeConnections === 0) return counts;
    for (const { nodeTag } of await this.kernel.connections()) {
      const id = nodeIdOf(nodeTag);
      if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }
}
