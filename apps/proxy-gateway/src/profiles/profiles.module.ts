import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { RuleSetRefreshModule } from '../rule-sets/rule-set-refresh.module.js';
import { ProfileRuleSets } from './profile-rule-sets.js';
import { ProfilesController } from './profiles.controller.js';
import { ProfilesService } from './profiles.service.js';
import { ProviderSubscriptions } from './provider-subscriptions.js';
import { TakeProfile } from './take-profile.js';

/** What refreshes need to store profiles, for processes that run workers. */
@Module({
  imports: [NodeStorageModule, RuleSetRefreshModule],
  providers: [TakeProfile, ProfileRuleSets, ProviderSubscriptions],
  exports: [TakeProfile],
})
export class ProfileStorageModule {}

/** The routes of profiles. */
@Module({
  imports: [KernelModule, ProfileStorageModule],
  controllers: [ProfilesController],
  providers: [ProfilesService],
})
export class ProfilesModule {}
