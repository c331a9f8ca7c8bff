import type { GroupDeleted, GroupFilter, OutboundGroupView } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { CurrentConfig } from './current-config.js';
import { checkCycles, checkDefinition, checkName, MAIN_GROUP } from './group-definition.js';
import { GroupFacts, groupNotFound } from './group-facts.js';
import { refuseWhileInUse, renameReferences } from './group-references.js';
import { lockGroups } from '../kernel-config/lock-groups.js';
import { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import type { GroupChanges, GroupSettings, NewGroup } from './outbound.dto.js';
import { PolicyOptions } from './policy-options.js';
import { resolvePolicy } from './policy-reference.js';

/** A bound, because each group costs a pass over all nodes at a reload. */
const MAX_GROUPS = 500;
/** The page of members in the answer to a change. */
const SHOWN = { limit: 500, offset: 0 };
/** Fields of an automatic group that users may change; its members are not among them. */
const FIELDS_OF_AUTOMATIC = new Set([
  'test_url',
  'expected_status',
  'interval_sec',
  'tolerance_ms',
  'lazy',
  'hidden',
  'icon',
]);

/** Creates, changes and deletes groups. */
@Injectable()
export class GroupEditor {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly current: CurrentConfig,
    private readonly options: PolicyOptions,
    private readonly kernel: KernelService,
    private readonly facts: GroupFacts,
  ) {}

  /** @throws AppError CONFLICT for a name that is taken; INVALID_ARGUMENT or UNPROCESSABLE for an invalid group. */
  async create(body: NewGroup): Promise<OutboundGroupView> {
    checkName(body.name);
    const members = await this.resolveMembers(body.members ?? []);
    await this.change(async (tx, groups) => {
      if (groups.length >= MAX_GROUPS) throw new AppError('UNPROCESSABLE', `There can be ${MAX_GROUPS} groups.`);
      const last = Math.max(...groups.filter(({ automatic }) => !automatic).map(({ position }) => position));
      const group = tx.create(OutboundGroupEntity, { ...BLANK, name: body.name, type: body.type, position: last + 1 });
      await this.store(tx, groups, applySettings(group, body, members), null);
    });
    return this.facts.one(body.name, SHOWN, true);
  }

  /** @throws AppError NOT_FOUND; CONFLICT for fields that a group of the service must keep; otherwise as `create`. */
  async update(name: string, body: GroupChanges): Promise<OutboundGroupView> {
    if (body.name !== undefined) checkName(body.name);
    const members = body.members && (await this.resolveMembers(body.members));
    await this.change(async (tx, groups) => {
      const group = groups.find((candidate) => candidate.name === name);
      if (!group) throw groupNotFound(name);
      refuseOfProfile(group);
      refuseProtected(group, body);
      group.name = body.name ?? group.name;
      if (body.type !== undefined && body.type !== group.type) retype(group, body.type);
      await this.store(tx, groups, applySettings(group, body, members), name);
    });
    return this.facts.one(body.name ?? name, SHOWN, true);
  }

  /** @throws AppError NOT_FOUND; CONFLICT for a group of the service; IN_USE naming what refers to it. */
  async remove(name: string): Promise<GroupDeleted> {
    await this.change(async (tx, groups) => {
      const group = groups.find((candidate) => candidate.name === name);
      if (!group) throw groupNotFound(name);
      if (group.name === MAIN_GROUP)
        throw new AppError('CONFLICT', `${MAIN_GROUP} is the fallback of other groups and cannot be deleted.`);
      refuseOfProfile(group);
      if (group.automatic) throw new AppError('CONFLICT', `${name} is automatic: it goes with its last node.`);
      await refuseWhileInUse(tx, name);
      await tx.delete(OutboundGroupEntity, group.id);
    });
    return { name, deleted: true };
  }

  private async resolveMembers(wanted: readonly string[]): Promise<string[]> {
    if (wanted.length === 0) return [];
    const options = await this.options.all(await this.current.read());
    // A disabled node, or one that cannot be dialled, may be named: it becomes a member as soon as it is usable.
    const allowed = options.map((option) => ({ ...option, problem: null }));
    return [...new Set(wanted.map((text) => resolvePolicy(text, allowed, 'members').tag))];
  }

  /** One change of groups at a time: what the checks read must still hold when the change is stored. */
  private async change(work: (tx: EntityManager, groups: OutboundGroupEntity[]) => Promise<void>): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await lockGroups(tx);
      // Locked, so that a choice made at the same time is not overwritten by an older one.
      const lock = { mode: 'pessimistic_write' } as const;
      await work(tx, await tx.find(OutboundGroupEntity, { order: { position: 'ASC', id: 'ASC' }, lock }));
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
    await this.kernel.sync();
  }

  private async store(
    tx: EntityManager,
    groups: readonly OutboundGroupEntity[],
    group: OutboundGroupEntity,
    before: string | null,
  ): Promise<void> {
    const others = groups.filter((other) => other !== group);
    if (others.some(({ name }) => name === group.name)) {
      throw new AppError('CONFLICT', `Group ${JSON.stringify(group.name)} already exists.`);
    }
    if (!group.automatic) checkDefinition(group);
    if (group.members.includes(before ?? group.name)) checkSelf(group);
    checkCycles([...others.map((other) => renamed(other, before, group.name)), group]);
    await tx.save(group);
    if (before !== null && before !== group.name) await renameReferences(tx, before, group.name);
  }
}

const BLANK = {
  members: [],
  filter: null,
  exclude: null,
  includeCountries: false,
  selectedTag: null,
  selectedName: null,
  lastSwitch: null,
  testUrl: null,
  expectedStatus: null,
  intervalSec: null,
  toleranceMs: null,
  lazy: true,
  strategy: null,
  hidden: false,
  icon: null,
  emptyFallback: 'REJECT',
  automatic: false,
  country: null,
  subscriptionId: null,
  profileName: null,
  intake: null,
};

function checkSelf(group: OutboundGroupEntity): never {
  const message = `${group.name} cannot be a member of itself`;
  throw new AppError('UNPROCESSABLE', `members: ${message}`, { details: [{ field: 'members', message }] });
}

function renamed(group: OutboundGroupEntity, from: string | null, to: string) {
  return { name: group.name, members: group.members.map((tag) => (tag === from ? to : tag)) };
}

/** The next refresh would undo any change. */
function refuseOfProfile({ name, subscriptionId }: OutboundGroupEntity): void {
  if (subscriptionId === null) return;
  const message = `${name} comes from the profile of subscription ${subscriptionId}: only its choice can be changed`;
  throw new AppError('CONFLICT', message);
}

function refuseProtected(group: OutboundGroupEntity, body: GroupChanges): void {
  const given = Object.entries(body).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  const kept = group.automatic
    ? given.filter((field) => !FIELDS_OF_AUTOMATIC.has(field))
    : given.filter(
        (field) =>
          group.name === MAIN_GROUP &&
          ['name', 'type'].includes(field) &&
          body[field as 'name'] !== group[field as 'name'],
      );
  if (kept.length === 0) return;
  const message = group.automatic ? 'cannot be changed: the group is automatic' : `cannot be changed for ${MAIN_GROUP}`;
  throw new AppError('CONFLICT', `${kept[0]}: ${message}`, { details: kept.map((field) => ({ field, message })) });
}

/** Fields that only the previous type used are reset. */
function retype(group: OutboundGroupEntity, type: OutboundGroupEntity['type']): void {
  group.type = type;
  if (type !== 'url-test') group.toleranceMs = null;
  if (type !== 'load-balance') group.strategy = null;
  if (type === 'load-balance') Object.assign(group, { selectedTag: null, selectedName: null });
}

function applySettings(
  group: OutboundGroupEntity,
  body: GroupSettings,
  members: string[] | undefined,
): OutboundGroupEntity {
  const changes: Partial<OutboundGroupEntity> = {
    members,
    filter: plain(body.filter),
    exclude: plain(body.exclude),
    includeCountries: body.include_countries,
    testUrl: body.test_url,
    expectedStatus: body.expected_status,
    intervalSec: body.interval_sec,
    toleranceMs: body.tolerance_ms,
    lazy: body.lazy,
    strategy: body.strategy,
    hidden: body.hidden,
    icon: body.icon,
    emptyFallback: body.empty_fallback,
  } as Partial<OutboundGroupEntity>;
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return Object.assign(group, Object.fromEntries(given));
}

function plain(filter: GroupFilter | null | undefined): GroupFilter | null | undefined {
  return filter ? (JSON.parse(JSON.stringify(filter)) as GroupFilter) : filter;
}
