import { Module } from '@nestjs/common';
import { InternalUserModule } from '../kernel-config/internal-user.module.js';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { ProfileStorageModule } from '../profiles/profiles.module.js';
import { NodeSetStore } from './node-set.store.js';
import { RefreshSchedules } from './refresh-schedules.js';
import { RefreshSubscription } from './refresh-subscription.js';
import { RefreshHandler } from './refresh.handler.js';
import { DocumentParser } from '../documents/document-parser.js';
import { KernelProxyAddress } from '../documents/kernel-proxy-address.js';
import { RefreshLock } from './refresh-lock.js';
import { ReplyReader } from './reply-reader.js';
import { SubscriptionFetcher } from '../documents/subscription-fetcher.js';

/** The refreshes of subscriptions, for processes that run workers. */
@Module({
  imports: [NodeStorageModule, ProfileStorageModule, InternalUserModule],
  providers: [
    RefreshHandler,
    RefreshSubscription,
    RefreshSchedules,
    NodeSetStore,
    RefreshLock,
    ReplyReader,
    KernelProxyAddress,
    { provide: DocumentParser, useFactory: () => new DocumentParser() },
    { provide: SubscriptionFetcher, useFactory: () => new SubscriptionFetcher() },
  ],
  exports: [RefreshSchedules, ReplyReader, DocumentParser],
})
export class RefreshModule {}
