import { Module } from '@nestjs/common';
import { NodeVaultModule } from '../data/node-vault.module.js';
import { RuleSetSource } from './rule-set-source.js';
import { RuleStorageModule } from './rule-storage.module.js';
import { KernelMode } from './kernel-mode.js';
import { KernelOptions } from './kernel-options.js';
import { OwnEndpoints } from './own-endpoints.js';
import { KernelConfigSource } from './kernel-config.source.js';
import { InternalUserModule } from './internal-user.module.js';
import { ProxyUserSource } from './proxy-user-source.js';

/** The sources of a kernel configuration, also for processes that run no kernel. */
@Module({
  imports: [NodeVaultModule, RuleStorageModule, InternalUserModule],
  providers: [KernelConfigSource, KernelMode, KernelOptions, OwnEndpoints, RuleSetSource, ProxyUserSource],
  exports: [KernelConfigSource],
})
export class KernelConfigModule {}
