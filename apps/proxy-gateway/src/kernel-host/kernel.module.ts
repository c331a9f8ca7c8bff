import { Module } from '@nestjs/common';
import { NodeVault } from '../nodes/node-vault.js';
import { KernelConfigSource } from './kernel-config.source.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelService } from './kernel.service.js';
import { LostChoices } from './lost-choices.js';

@Module({
  providers: [
    KernelService,
    KernelConfigSource,
    LostChoices,
    NodeVault,
    { provide: KernelLauncher, useFactory: () => new KernelLauncher() },
  ],
  exports: [KernelService, NodeVault],
})
export class KernelModule {}
