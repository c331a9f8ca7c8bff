import { Module } from '@nestjs/common';
import { CountryGroups } from '../outbound/country-groups.js';
import { GroupSwitches } from '../outbound/group-switches.js';
import { KernelConfigModule } from './kernel-config.module.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelService } from './kernel.service.js';
import { LostChoices } from './lost-choices.js';

@Module({
  imports: [KernelConfigModule],
  providers: [
    KernelService,
    LostChoices,
    CountryGroups,
    GroupSwitches,
    { provide: KernelLauncher, useFactory: () => new KernelLauncher() },
  ],
  exports: [KernelService, KernelConfigModule, GroupSwitches],
})
export class KernelModule {}
