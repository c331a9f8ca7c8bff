import { SECRET_BOX, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { RuleSetEntity } from '../data/rule-set.entity.js';
import type { SubscriptionEntity } from '../data/subscription.entity.js';
import { RuleSetDefinitions } from '../rule-sets/rule-set-definitions.js';
import { RuleSetSchedules } from '../rule-sets/rule-set-schedules.js';
import { mayReachPrivate } from './private-reach.js';
import type { PlannedSet } from './plan-profile.js';

const MIN_INTERVAL_SEC = 60;
const DEFAULT_INTERVAL_SEC = 86_400;

/** The rule providers of profiles, each a rule set. */
@Injectable()
export class ProfileRuleSets {
  constructor(
    private readonly definitions: RuleSetDefinitions,
    private readonly schedules: RuleSetSchedules,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** Replaces the sets of a profile; one that stays keeps its row and its entries. */
  async replace(tx: EntityManager, owner: SubscriptionEntity, sets: readonly PlannedSet[]): Promise<void> {
    const present = await tx.find(RuleSetEntity, {
      where: { subscriptionId: owner.id },
      lock: { mode: 'pessimistic_write' },
    });
    const byName = new Map(present.map((row) => [row.profileName, row]));
    const kept = new Set<number>();
    for (const set of sets) {
      const before = byName.get(set.name);
      // A source of another kind is another set.
      const same = before && (before.type === 'inline') === 'entries' in set.source ? before : undefined;
      if (before && !same) await tx.delete(RuleSetEntity, before.id);
      kept.add(await this.store(tx, owner, set, same));
    }
    const gone = present.map(({ id }) => id).filter((id) => !kept.has(id));
    if (gone.length > 0) await tx.delete(RuleSetEntity, gone);
  }

  /** Brings the schedules in line after the transaction. Those of sets that are gone end with the next check. */
  async follow(rows: readonly RuleSetEntity[]): Promise<void> {
    for (const row of rows) await this.schedules.follow(row);
  }

  private async store(
    tx: EntityManager,
    owner: SubscriptionEntity,
    set: PlannedSet,
    present: RuleSetEntity | undefined,
  ): Promise<number> {
    const { behavior, intervalSec, source } = set;
    const interval_sec = Math.max(intervalSec ?? DEFAULT_INTERVAL_SEC, MIN_INTERVAL_SEC);
    const content = 'url' in source ? { url: source.url, format: set.format } : { entries: source.entries };
    const allow_private = 'url' in source && mayReachPrivate(this.box, owner, source.url);
    const shared = { behavior, interval_sec, allow_private, ...content };
    if (present) {
      if (await this.definitions.change(tx, present, shared)) await this.schedules.refreshSoon(tx, present.id);
      return present.id;
    }
    const type = 'url' in source ? 'http' : 'inline';
    const row = await this.definitions.create(tx, { ...shared, name: set.storedAs, type });
    await tx.update(RuleSetEntity, row.id, { subscriptionId: owner.id, profileName: set.name });
    if (type === 'http') await this.schedules.refreshSoon(tx, row.id);
    return row.id;
  }
}
