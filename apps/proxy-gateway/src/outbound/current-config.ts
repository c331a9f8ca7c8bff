import { Injectable } from '@nestjs/common';
import { mapKernelConfig } from '../kernel-config/kernel-config.mapper.js';
import type { MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-config/kernel-config.source.js';
import { KernelService } from '../kernel-process/kernel.service.js';

/** What the database makes of groups and nodes. */
@Injectable()
export class CurrentConfig {
  constructor(
    private readonly source: KernelConfigSource,
    private readonly kernel: KernelService,
  ) {}

  /** As the kernel was told; read anew where it could not be told, or not of all `groups`. */
  async read(groups: readonly string[] = []): Promise<MappedConfig> {
    const { applied } = this.kernel;
    const known = new Set(applied?.config.groups.map(({ name }) => name));
    if (applied && groups.every((name) => known.has(name))) return applied;
    return mapKernelConfig(await this.source.load());
  }
}
