import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { ProfileStorageModule } from '../profiles/profiles.module.js';
import { ProfilePreviews } from './profile-previews.js';
import { RefreshModule } from './refresh.module.js';
import { RequestRefresh } from './request-refresh.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions.service.js';

@Module({
  imports: [KernelModule, NodeStorageModule, RefreshModule, ProfileStorageModule],
  controllers: [SubscriptionsController],
  providers: [SubscriptionsService, RequestRefresh, ProfilePreviews],
})
export class SubscriptionsModule {}
