import { Injectable } from '@nestjs/common';
import { mapKernelConfig } from '../kernel-config/kernel-config.mapper.js';
import type { MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-config/kernel-config.source.js';
import { KernelService } from '../kernel-process/kernel.service.js';

/** The kernel configuration that the database describes at present. */
@Injectable()
export class CurrentConfig {
  constructor(
    private readonly source: KernelConfigSource,
    private readonly kernel: KernelService,
  ) {}

  /** The configuration that the kernel applied; read from the database if that is outdated or lacks one of `groups`. */
  async read(groups: readonly string[] = []): Promise<MappedConfig> {
    const { applied } = this.kernel;
    const known = new Set(applied?.config.groups.map(({ name }) => name));
    if (applied && groups.every((name) => known.has(name))) return applied;
    return mapKernelConfig(await this.source.load());
  }
}
