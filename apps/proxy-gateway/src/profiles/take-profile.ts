import type { BroughtRules } from '@gatehouse/contracts';
import { notify } from '@gatehouse/persistence';
import type { Profile } from '@gatehouse/subscription-formats';
import { Injectable, Logger, Optional } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { ProfileEntity } from '../data/profile.entity.js';
import { RuleSetEntity } from '../data/rule-set.entity.js';
import { SubscriptionEntity } from '../data/subscription.entity.js';
import { GeoLibrary } from '../geo/geo-library.js';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { lockGroups } from '../kernel-config/lock-groups.js';
import { NodeWriter } from '../nodes/node-writer.js';
import { loadProviderNames, replaceSubscriptionRules, unknownTarget } from '../rules/subscription-rules.js';
import { lockRules } from '../rules/rule-changes.js';
import { activateFirst, deactivate } from './active-profile.js';
import { planProfile } from './plan-profile.js';
import type { ProfileContext, ProfilePlan } from './plan-profile.js';
import { readNameSpace } from './profile-names.js';
import { replaceGroups } from './profile-rows.js';
import { ProfileRuleSets } from './profile-rule-sets.js';
import { ProviderSubscriptions } from './provider-subscriptions.js';

/** A document's names of nodes that another entry of it already has. */
export type NodeAliases = ReadonlyMap<string, string>;

/** Stores the profile of a subscription, and takes it away again. Both happen within the caller's transaction. */
@Injectable()
export class TakeProfile {
  private readonly logger = new Logger('Profiles');

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: NodeWriter,
    private readonly providers: ProviderSubscriptions,
    private readonly ruleSets: ProfileRuleSets,
    @Optional() private readonly geo?: GeoLibrary,
  ) {}

  /**
   * Replaces everything that the subscription's profile has, in the transaction that replaces its nodes. What people
   * changed stays: choices in groups, rules of their own, and which profile is active. The first profile becomes active.
   */
  async take(
    tx: EntityManager,
    owner: SubscriptionEntity,
    profile: Profile,
    aliases: NodeAliases,
  ): Promise<BroughtRules> {
    await lockGroups(tx);
    await lockRules(tx);
    const { own } = await loadProviderNames(tx, owner.id);
    const nodeTag = (name: string): string | null => own.get(name) ?? own.get(aliases.get(name) ?? '') ?? null;
    const plan = await this.plan(tx, owner, profile, nodeTag);
    const providers = await this.providers.replace(tx, owner, plan.providers);
    await replaceGroups(tx, owner.id, plan.groups, providers);
    await this.ruleSets.replace(tx, owner, plan.sets);
    const rules = plan.rules.map(({ noResolve = false, src = false, ...rule }) => ({ ...rule, noResolve, src }));
    const counts = await replaceSubscriptionRules(tx, owner.id, rules, profile.rules.length);
    const isNew = !(await tx.existsBy(ProfileEntity, { subscriptionId: owner.id }));
    const { overlay, report } = plan;
    await tx.save(ProfileEntity, { subscriptionId: owner.id, overlay, report });
    if (isNew) await activateFirst(tx, owner.id);
    await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    return counts;
  }

  /** Removes everything that came with the profile, except the subscription's nodes. */
  async drop(tx: EntityManager, subscriptionId: number): Promise<void> {
    await this.nodes.lock(tx);
    await lockGroups(tx);
    await this.removeProviders(tx, subscriptionId);
    await replaceGroups(tx, subscriptionId, [], new Map());
    await tx.delete(RuleSetEntity, { subscriptionId });
    await replaceSubscriptionRules(tx, subscriptionId, []);
    await tx.delete(ProfileEntity, { subscriptionId });
    await deactivate(tx, subscriptionId);
    await notify(tx, KERNEL_CONFIG_CHANNEL, '');
  }

  /** Deletes the subscriptions of its proxy providers with the nodes that only they contained. */
  async removeProviders(tx: EntityManager, subscriptionId: number): Promise<void> {
    const rows = await tx.findBy(SubscriptionEntity, { profileId: subscriptionId });
    await this.providers.remove(
      tx,
      rows.map(({ id }) => id),
    );
  }

  /** After the transaction: keeps the schedules of its rule sets. A failure is logged, and repaired by the next check. */
  async settle(subscriptionId: number): Promise<void> {
    const rows = await this.dataSource.getRepository(RuleSetEntity).findBy({ subscriptionId });
    await this.ruleSets.follow(rows);
    this.logger.log(`The profile of subscription ${subscriptionId} was taken`, { rule_sets: rows.length });
  }

  /** What taking the profile would store. Changes nothing. */
  async plan(
    tx: EntityManager,
    owner: Pick<SubscriptionEntity, 'id' | 'name'>,
    profile: Profile,
    nodeTag: ProfileContext['nodeTag'],
  ): Promise<ProfilePlan> {
    const { foreign } = await loadProviderNames(tx, owner.id);
    return planProfile(profile, {
      groups: await readNameSpace(tx, 'outbound_groups', owner),
      sets: await readNameSpace(tx, 'rule_sets', owner),
      nodeTag,
      foreignTag: foreign,
      unknownTarget,
      hasSites: (code) => (this.geo ? this.geo.site(code) !== null : null),
    });
  }
}
