import { Schedules } from '@gatehouse/jobs';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AddressListsHandler } from './address-lists.handler.js';
import { ListFetcher } from './list-fetcher.js';
import { ListRefresher } from './list-refresher.js';

/** How much later than its time a list is refreshed. */
const EVERY_MS = 60_000;

/** Refreshes lists of addresses, wherever workers run. */
@Module({ providers: [AddressListsHandler, ListFetcher, ListRefresher], exports: [ListRefresher] })
export class AddressListJobsModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const payload = { requestedAt: Date.now() };
    await this.schedules.keepOne('address-lists', { key: 'address-lists', everyMs: EVERY_MS, payload });
  }
}
