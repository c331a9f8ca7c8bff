import { Module } from '@nestjs/common';
import { CountryGroups } from '../outbound/country-groups.js';
import { GroupSwitches } from '../outbound/group-switches.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { RuleStorageModule } from '../rules/rule-storage.module.js';
import { KernelConfigSource } from './kernel-config.source.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelService } from './kernel.service.js';
import { LostChoices } from './lost-choices.js';

@Module({
  imports: [NodeStorageModule, RuleStorageModule],
  providers: [
    KernelService,
    KernelConfigSource,
    LostChoices,
    CountryGroups,
    GroupSwitches,
    { provide: KernelLauncher, useFactory: () => new KernelLauncher() },
  ],
  exports: [KernelService, KernelConfigSource, GroupSwitches],
})
export class KernelModule {}
