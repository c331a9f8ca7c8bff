import { Module } from '@nestjs/common';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { KernelConfigSource } from './kernel-config.source.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelService } from './kernel.service.js';
import { LostChoices } from './lost-choices.js';

@Module({
  imports: [NodeStorageModule],
  providers: [
    KernelService,
    KernelConfigSource,
    LostChoices,
    { provide: KernelLauncher, useFactory: () => new KernelLauncher() },
  ],
  exports: [KernelService, KernelConfigSource],
})
export class KernelModule {}
