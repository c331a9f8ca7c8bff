import { SECRET_BOX, takeRowId } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import type { ProfileProxyProvider } from '@gatehouse/subscription-formats';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { SubscriptionEntity } from '../data/subscription.entity.js';
import { NodeWriter } from '../nodes/node-writer.js';
import { sealUrl, tryOpenUrl } from '../sealed-url.js';
import { mayReachPrivate } from './private-reach.js';
import type { ProviderRow } from './profile-rows.js';

const DEFAULT_INTERVAL_SEC = 3_600;
/** Providers ban subscribers that ask more often. */
const MIN_INTERVAL_SEC = 60;
const MAX_NAME = 200;
const SOON_MS = 3_000;

/** The proxy providers of profiles, each a subscription of its own. */
@Injectable()
export class ProviderSubscriptions {
  constructor(
    private readonly nodes: NodeWriter,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * Replaces the providers of a profile; one that stays keeps its row and its nodes. Call while holding the lock of the
   * nodes.
   */
  async replace(
    tx: EntityManager,
    owner: SubscriptionEntity,
    providers: readonly ProfileProxyProvider[],
  ): Promise<Map<string, ProviderRow>> {
    const present = await tx.find(SubscriptionEntity, {
      where: { profileId: owner.id },
      lock: { mode: 'pessimistic_write' },
    });
    const byName = new Map(present.map((row) => [row.providerName, row]));
    const names = new Set<string | null>(providers.map(({ name }) => name));
    await this.remove(
      tx,
      present.filter(({ providerName }) => !names.has(providerName)).map(({ id }) => id),
    );
    const rows = new Map<string, ProviderRow>();
    for (const provider of providers) {
      const row = await this.store(tx, owner, provider, byName.get(provider.name));
      rows.set(provider.name, { subscriptionId: row.id, filter: provider.filter });
    }
    return rows;
  }

  /** Deletes subscriptions, and the nodes that only they contained. */
  async remove(tx: EntityManager, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    const carried: { node_id: number }[] = await tx.query(
      'SELECT node_id FROM node_sources WHERE subscription_id = ANY ($1::bigint[])',
      [ids],
    );
    await tx.delete(SubscriptionEntity, [...ids]);
    await this.nodes.deleteOrphans(
      tx,
      carried.map(({ node_id }) => node_id),
    );
  }

  private async store(
    tx: EntityManager,
    owner: SubscriptionEntity,
    provider: ProfileProxyProvider,
    present: SubscriptionEntity | undefined,
  ): Promise<SubscriptionEntity> {
    const { name, url, userAgent } = provider;
    const row = present ?? (await this.blank(tx, owner, provider));
    if (present && tryOpenUrl(this.box, 'subscriptions', row) === url && row.userAgent === userAgent) return row;
    Object.assign(row, {
      name: `${owner.name}/${name}`.slice(0, MAX_NAME),
      sealedUrl: sealUrl(this.box, 'subscriptions', row.id, url),
      userAgent,
      allowPrivate: mayReachPrivate(this.box, owner, url),
      etag: null,
      lastModified: null,
      workingUserAgent: null,
      nextRefreshAt: row.enabled ? new Date(Date.now() + SOON_MS) : null,
    });
    return tx.save(row);
  }

  private async blank(
    tx: EntityManager,
    owner: SubscriptionEntity,
    { name, intervalSec }: ProfileProxyProvider,
  ): Promise<SubscriptionEntity> {
    return tx.create(SubscriptionEntity, {
      id: await takeRowId(tx, 'subscriptions'),
      type: 'auto',
      intervalSec: Math.max(intervalSec ?? DEFAULT_INTERVAL_SEC, MIN_INTERVAL_SEC),
      intervalSource: intervalSec === null ? 'default' : 'user',
      enabled: owner.enabled,
      bringRules: false,
      profileId: owner.id,
      providerName: name,
    });
  }
}
