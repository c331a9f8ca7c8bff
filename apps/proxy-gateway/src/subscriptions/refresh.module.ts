import { Module } from '@nestjs/common';
import { NodeStorageModule } from '../nodes/node-storage.module.js';
import { NodeSetStore } from './node-set.store.js';
import { RefreshSchedules } from './refresh-schedules.js';
import { RefreshSubscription } from './refresh-subscription.js';
import { RefreshHandler } from './refresh.handler.js';
import { SubscriptionFetcher } from './subscription-fetcher.js';

/** Refreshing, wherever the workers run. */
@Module({
  imports: [NodeStorageModule],
  providers: [
    RefreshHandler,
    RefreshSubscription,
    RefreshSchedules,
    NodeSetStore,
    { provide: SubscriptionFetcher, useFactory: () => new SubscriptionFetcher() },
  ],
  exports: [RefreshSchedules],
})
export class RefreshModule {}
