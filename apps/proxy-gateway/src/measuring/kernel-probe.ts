import type { ProbeOptions, ProbeResult, ProbeTarget } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { KernelService } from '../kernel-process/kernel.service.js';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';

/** Measures nodes in a kernel that is another program, if this process has one. The worker's process has none. */
@Injectable()
export class KernelProbe {
  constructor(private readonly modules: ModuleRef) {}

  get available(): boolean {
    return this.kernel()?.program === 'mihomo';
  }

  /** Rejects for an aborted signal. @throws AppError KERNEL_UNAVAILABLE. */
  async probe({ id, node, via }: ProbeTarget & { id: number }, options: ProbeOptions): Promise<ProbeResult> {
    const { url, expectedStatus, timeoutMs, signal } = options;
    signal?.throwIfAborted();
    const kernel = this.kernel();
    if (!kernel) throw new TypeError('no kernel is in this process');
    return kernel.probe({ tag: nodeTag(id), node, ...(via && { via }), url, expectedStatus, timeoutMs });
  }

  private kernel(): KernelService | null {
    try {
      return this.modules.get(KernelService, { strict: false });
    } catch {
      return null;
    }
  }
}
