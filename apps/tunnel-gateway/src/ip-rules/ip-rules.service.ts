import { SYSTEM_ACTOR, type Actor } from '@gatehouse/auth';
import type { IpRulePage, IpRuleView, WrittenIpRuleView } from '@gatehouse/contracts';
import { afterCommit, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isAdministrator, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { containing } from '../data/sort-keys.js';
import { ResourceOwners } from '../data/resource-owners.js';
import { fieldError, readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { ConsoleRules } from './console-rules.js';
import { RuleDatabases } from './rule-databases.js';
import { parseAddressPattern } from '../common/address-pattern.js';
import { IP_RULE_SORTS, type IpRuleChanges, type IpRuleQuery, type NewIpRuleBody } from './ip-rule.dto.js';
import { IpRuleOptions, type IpRule } from '../data/ip-rule.entity.js';
import { writeOptions } from '../data/row-options.js';
import { toIpRuleView } from './ip-rule.view.js';
import { readRequests, withRequests } from './rule-requests.js';

/** The author of a change, with the address and the expected version. */
export interface RuleChange {
  actor: Actor;
  address: string;
  expected: ExpectedVersion | null;
}

/** Address rules. */
@Injectable()
export class IpRulesService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly resources: ResourceOwners,
    private readonly unitOfWork: UnitOfWork,
    private readonly databases: RuleDatabases,
    private readonly console: ConsoleRules,
  ) {}

  async list(query: IpRuleQuery, actor: Actor): Promise<IpRulePage> {
    const { items, next_cursor } = await this.owned.ipRules(actor).page(query, conditionsOf(query), IP_RULE_SORTS);
    return { items: (await withRequests(this.owned.options, items)).map(toIpRuleView), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<IpRuleView> {
    return this.view(await this.owned.ipRules(actor).one(id));
  }

  /** @throws AppError SELF_LOCKOUT, as `update` and `remove`, for a console rule that would lock out `address` */
  async create(body: NewIpRuleBody, actor: Actor, address: string): Promise<WrittenIpRuleView> {
    const rule = await this.unitOfWork.run(async (tx) => {
      const resourceId = await this.resourceOf(body, actor, tx);
      const added = await this.owned
        .ipRules(actor, tx)
        .add({ ...columnsOf(body, null), scope: body.scope, resourceId });
      await this.databases.lists.keep(added, tx);
      await writeOptions(tx, IpRuleOptions, 'ruleId', added.id, readRequests(body, body.scope));
      await this.changed(added, body.force === true ? null : address, tx);
      return added;
    });
    return this.written(rule);
  }

  async update(id: number, body: IpRuleChanges, { actor, address, expected }: RuleChange): Promise<WrittenIpRuleView> {
    const rule = await this.unitOfWork.run(async (tx) => {
      const rules = this.owned.ipRules(actor, tx);
      const before = await rules.lock(id, expected);
      refuseOthers(before, actor);
      const after = await rules.change(id, columnsOf(body, before));
      await this.databases.lists.keep(after, tx);
      await writeOptions(tx, IpRuleOptions, 'ruleId', id, readRequests(body, before.scope));
      await this.changed(after, body.force === true ? null : address, tx);
      return after;
    });
    return this.written(rule);
  }

  async remove(id: number, force: boolean, { actor, address, expected }: RuleChange): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const removed = await this.owned.ipRules(actor, tx).remove(id, expected);
      refuseOthers(removed, actor);
      await this.changed(removed, force ? null : address, tx);
    });
  }

  /** Console rules are in force before the answer. `address`: must not be locked out. */
  private async changed({ scope }: IpRule, address: string | null, tx: EntityManager): Promise<void> {
    if (scope !== 'console') return;
    if (address !== null) await this.console.requireWayIn(address, tx);
    afterCommit(tx, () => this.console.refresh());
  }

  private async view(rule: IpRule): Promise<IpRuleView> {
    const [whole] = await withRequests(this.owned.options, [rule]);
    if (!whole) throw new AppError('INTERNAL');
    return toIpRuleView(whole);
  }

  private async written(rule: IpRule): Promise<WrittenIpRuleView> {
    const view = await this.view(rule);
    return { ...view, warning: (await this.missingFor(rule)) ?? (await this.unseenBy(view)) };
  }

  /** What the rule lacks; null: nothing. */
  private async missingFor({ patternKind, pattern }: IpRule): Promise<string | null> {
    if (patternKind === 'list') return this.databases.lists.warningFor(pattern);
    return this.databases.warningFor(patternKind);
  }

  /** Why a rule about requests sees none; null: it sees them, or is not about requests. */
  private async unseenBy({ scope, resource_id: id, paths, methods }: IpRuleView): Promise<string | null> {
    if (scope !== 'host' || (paths === null && methods === null)) return null;
    const [host] = await this.owned.hosts(SYSTEM_ACTOR).some([{ sql: 'row.id = :id', parameters: { id } }]);
    if (!host?.targetAddr.startsWith('tls:')) return null;
    return 'the host passes TLS on, so its requests cannot be seen: the rule denies whoever it could deny, and allows nobody';
  }

  private async resourceOf(
    { scope, resource_id: id }: NewIpRuleBody,
    actor: Actor,
    tx: EntityManager,
  ): Promise<number> {
    if (scope === 'global' || scope === 'console') {
      refuseOthers({ scope }, actor);
      if (id !== undefined && id !== 0) throw fieldError('resource_id', `must be 0 for ${scope} rules`);
      return 0;
    }
    if (id === undefined || id === 0)
      throw fieldError('resource_id', `must name the ${scope} that the rule applies to`);
    await this.resources.require(actor, scope, id, tx);
    return id;
  }
}

/** Global and console rules require an administrator. */
function refuseOthers({ scope }: Pick<IpRule, 'scope'>, actor: Actor): void {
  if ((scope !== 'global' && scope !== 'console') || isAdministrator(actor)) return;
  throw new AppError('FORBIDDEN', `scope: only administrators can manage ${scope} rules`);
}

/** Contains only what the body sets; pattern and kind are validated together. */
function columnsOf(body: IpRuleChanges, before: IpRule | null): Partial<IpRule> {
  const patternKind = body.pattern_kind ?? before?.patternKind ?? 'exact';
  const pattern = body.pattern ?? before?.pattern ?? '';
  const { type, priority, remark } = body;
  return {
    pattern: readField('pattern', () => parseAddressPattern(patternKind, pattern)),
    patternKind,
    ...(type !== undefined && { type }),
    ...(priority !== undefined && { priority }),
    ...(remark !== undefined && { remark }),
  };
}

function conditionsOf({ q, scope, resource_id: resourceId, type, pattern_kind: kind }: IpRuleQuery): Condition[] {
  return [
    ...(q === undefined ? [] : [containing(q, ['row.pattern', 'row.remark'])]),
    ...(kind === undefined ? [] : [{ sql: 'row.pattern_kind = :kind', parameters: { kind } }]),
    ...(scope === undefined ? [] : [{ sql: 'row.scope = :scope', parameters: { scope } }]),
    ...(resourceId === undefined ? [] : [{ sql: 'row.resource_id = :resourceId', parameters: { resourceId } }]),
    ...(type === undefined ? [] : [{ sql: 'row.type = :type', parameters: { type } }]),
  ];
}
