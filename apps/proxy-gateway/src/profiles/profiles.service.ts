import type { ProfileList, ProfileView } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ProfileEntity } from '../data/profile.entity.js';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { lockRules } from '../rules/rule-changes.js';
import { activate, readActive } from './active-profile.js';
import { toProfileReport } from './profile-report.js';

interface CountRow {
  id: number;
  name: string;
  groups: number;
  rules: number;
  rule_sets: number;
  providers: number;
}

const SELECT_COUNTS = `
  SELECT owner.id, owner.name,
    (SELECT count(*)::integer FROM outbound_groups WHERE subscription_id = owner.id) AS groups,
    (SELECT count(*)::integer FROM rules WHERE subscription_id = owner.id) AS rules,
    (SELECT count(*)::integer FROM rule_sets WHERE subscription_id = owner.id) AS rule_sets,
    (SELECT count(*)::integer FROM subscriptions WHERE profile_id = owner.id) AS providers
  FROM profiles JOIN subscriptions owner ON owner.id = profiles.subscription_id ORDER BY owner.id`;

@Injectable()
export class ProfilesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly kernel: KernelService,
  ) {}

  list(): Promise<ProfileList> {
    return this.unitOfWork.run((tx) => readList(tx));
  }

  /** Makes a profile drive the rules, or none. @throws AppError UNPROCESSABLE for a subscription without a profile. */
  async activate(subscriptionId: number | null): Promise<ProfileList> {
    const list = await this.unitOfWork.run(async (tx) => {
      await lockRules(tx);
      const exists = subscriptionId === null || (await tx.existsBy(ProfileEntity, { subscriptionId }));
      if (!exists) throw noProfile(subscriptionId);
      if (await activate(tx, subscriptionId)) await notify(tx, KERNEL_CONFIG_CHANNEL, 'rules');
      return readList(tx);
    });
    await this.kernel.sync();
    return list;
  }
}

async function readList(tx: EntityManager): Promise<ProfileList> {
  const { activeProfile, previousProfile, canGoBack } = await readActive(tx);
  const rows = new Map((await tx.find(ProfileEntity)).map((row) => [row.subscriptionId, row]));
  const counts: CountRow[] = await tx.query(SELECT_COUNTS);
  const items = counts.flatMap((count) => {
    const row = rows.get(count.id);
    return row ? [toView(row, count, activeProfile)] : [];
  });
  return {
    items,
    total: items.length,
    active_subscription_id: activeProfile,
    previous_subscription_id: previousProfile,
    can_go_back: canGoBack,
  };
}

function toView(
  { createdAt, updatedAt, report }: ProfileEntity,
  { id, ...counts }: CountRow,
  active: number | null,
): ProfileView {
  return {
    subscription_id: id,
    ...counts,
    active: id === active,
    taken_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    report: toProfileReport(report),
  };
}

function noProfile(id: number): AppError {
  const message = `subscription ${id} has no profile: set its bring_rules and refresh it`;
  return new AppError('UNPROCESSABLE', `subscription_id: ${message}`, {
    details: [{ field: 'subscription_id', message }],
  });
}
