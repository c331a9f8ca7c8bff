import type { Actor } from '@gatehouse/auth';
import type { ItemList, RuleSetDeletedResponse, RuleSetDetail, RuleSetView } from '@gatehouse/contracts';
import { UnitOfWork, SECRET_BOX } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { refusePrivateSource } from '../auth/private-source.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { announceRules, lockRules } from '../rules/rule-changes.js';
import { describeTargets, resolveTarget } from '../rules/rule-targets.js';
import { tryOpenUrl } from '../sealed-url.js';
import { readOwnRules, rulesNaming, writeOwnRule } from './own-rule.store.js';
import { ruleSetNotFound } from './refresh-rule-set.js';
import { RuleSetDefinitions } from './rule-set-definitions.js';
import { readEntries } from './rule-set-entries.store.js';
import { RuleSetSchedules } from './rule-set-schedules.js';
import type { NewRuleSet, RuleSetChanges } from './rule-set.dto.js';
import { RuleSetEntity } from '../data/rule-set.entity.js';
import { toRuleSetView } from './rule-set.view.js';

const SHOWN_ENTRIES = 100;

@Injectable()
export class RuleSetsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly definitions: RuleSetDefinitions,
    private readonly schedules: RuleSetSchedules,
    private readonly kernel: KernelService,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  list(actor: Actor | null): Promise<ItemList<RuleSetView>> {
    return this.unitOfWork.run(async (tx) => {
      const rows = await tx.find(RuleSetEntity, { order: { id: 'ASC' } });
      return { items: await this.views(tx, rows, actor), total: rows.length };
    });
  }

  /** @throws AppError NOT_FOUND. */
  get(id: number, actor: Actor | null): Promise<RuleSetDetail> {
    return this.unitOfWork.run(async (tx) => this.detail(tx, await find(tx, id), actor));
  }

  /**
   * @throws AppError INVALID_ARGUMENT, CONFLICT for a name that is taken, UNPROCESSABLE for an unknown target,
   * FORBIDDEN for private addresses.
   */
  create(body: NewRuleSet, actor: Actor | null): Promise<RuleSetDetail> {
    return this.change(actor, async (tx) => {
      await refuseTakenName(tx, body.name, null);
      const row = await this.definitions.create(tx, body);
      refusePrivateSource(actor, null, row);
      await this.writeRule(tx, row, body);
      return { row, refresh: row.type !== 'inline' && row.enabled };
    });
  }

  /** @throws AppError NOT_FOUND, IN_USE for a rename while rules use the old name, otherwise as `create`. */
  update(id: number, body: RuleSetChanges, actor: Actor | null): Promise<RuleSetDetail> {
    return this.change(actor, async (tx) => {
      const row = await find(tx, id, true);
      if (body.name !== undefined && body.name !== row.name) {
        await refuseTakenName(tx, body.name, id);
        await refuseNamed(tx, row);
      }
      const { allowPrivate, sealedUrl } = row;
      const needsRefresh = await this.definitions.change(tx, row, body);
      refusePrivateSource(actor, { allowPrivate, sealedUrl }, row);
      await this.writeRule(tx, row, body);
      return { row, refresh: needsRefresh && row.enabled };
    });
  }

  /** @throws AppError NOT_FOUND, IN_USE while rules name it and `force` is not set. */
  async remove(id: number, force: boolean): Promise<RuleSetDeletedResponse> {
    const left = await this.unitOfWork.run(async (tx) => {
      await lockRules(tx);
      const row = await find(tx, id, true);
      if (!force) await refuseNamed(tx, row);
      const naming = await rulesNaming(tx, row.name, id);
      await tx.delete(RuleSetEntity, id);
      await announceRules(tx);
      return naming.length;
    });
    await this.schedules.forget(id);
    await this.kernel.sync();
    return { id, deleted: true, rules_left: left };
  }

  private async change(
    actor: Actor | null,
    work: (tx: EntityManager) => Promise<{ row: RuleSetEntity; refresh: boolean }>,
  ): Promise<RuleSetDetail> {
    const { saved, view } = await this.unitOfWork.run(async (tx) => {
      await lockRules(tx);
      const { row, refresh } = await work(tx);
      await announceRules(tx);
      if (refresh) await this.schedules.refreshSoon(tx, row.id);
      // Read again for the columns that the database fills.
      const fresh = await find(tx, row.id);
      return { saved: fresh, view: await this.detail(tx, fresh, actor) };
    });
    await this.schedules.follow(saved);
    await this.kernel.sync();
    return view;
  }

  /** Writes the set's own rule from the row and the body. */
  private async writeRule(tx: EntityManager, row: RuleSetEntity, body: RuleSetChanges): Promise<void> {
    const before = (await readOwnRules(tx, [row.id])).get(row.id);
    const { target = before?.target ?? null } = body;
    await writeOwnRule(tx, {
      ruleSetId: row.id,
      name: row.name,
      enabled: row.enabled,
      // A target that is gone is accepted while it stays the same.
      target: target === null || target === before?.target ? target : await resolveTarget(tx, target),
      noResolve: body.no_resolve ?? before?.noResolve ?? false,
      priority: body.priority ?? before?.priority ?? null,
    });
  }

  private async detail(tx: EntityManager, row: RuleSetEntity, actor: Actor | null): Promise<RuleSetDetail> {
    const [view] = await this.views(tx, [row], actor);
    const entries = await readEntries(tx, row.id, row.type === 'inline' ? undefined : SHOWN_ENTRIES);
    return { ...view!, entries };
  }

  private async views(tx: EntityManager, rows: RuleSetEntity[], actor: Actor | null): Promise<RuleSetView[]> {
    const ids = rows.map(({ id }) => id);
    const rules = await readOwnRules(tx, ids);
    const tags = [...rules.values()].map(({ target }) => target);
    const targets = await describeTargets(tx, tags, null);
    const showSecrets = maySeeSecrets(actor);
    return rows.map((row) => {
      const rule = rules.get(row.id) ?? null;
      const targetName = rule === null ? null : (targets.get(rule.target)?.name ?? null);
      const { id, sealedUrl } = row;
      const url = sealedUrl === null ? null : tryOpenUrl(this.box, 'rule_sets', { id, sealedUrl });
      const isUnreadable = sealedUrl !== null && url === null;
      return toRuleSetView(row, { url, isUnreadable, rule, targetName, showSecrets });
    });
  }
}

async function find(tx: EntityManager, id: number, lock = false): Promise<RuleSetEntity> {
  const row = await tx.findOne(RuleSetEntity, {
    where: { id },
    ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
  });
  if (!row) throw ruleSetNotFound(id);
  return row;
}

async function refuseTakenName(tx: EntityManager, name: string, ownId: number | null): Promise<void> {
  const other = await tx.findOneBy(RuleSetEntity, { name });
  if (other === null || other.id === ownId) return;
  const message = `is already the name of rule set ${other.id}`;
  throw new AppError('CONFLICT', `name: ${message}`, { details: [{ field: 'name', message }] });
}

async function refuseNamed(tx: EntityManager, { id, name }: RuleSetEntity): Promise<void> {
  const naming = await rulesNaming(tx, name, id);
  if (naming.length === 0) return;
  const some = naming.slice(0, 5).join(', ');
  throw new AppError('IN_USE', `${naming.length} rules name the rule set ${name}: ${some}`);
}
