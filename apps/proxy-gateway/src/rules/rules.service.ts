import type { ItemList, RuleDeletedResponse, RuleView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { KernelService } from '../kernel-host/kernel.service.js';
import { announceRules, lockRules } from './rule-changes.js';
import { readDefinition } from './rule-definition.js';
import { placeBeside, placeLast } from './rule-order.js';
import type { Placement } from './rule-order.js';
import { describeTargets, resolveTarget } from './rule-targets.js';
import type { RuleBody, RuleQuery } from './rule.dto.js';
import { Rule } from './rule.entity.js';
import { toRuleView } from './rule.view.js';

@Injectable()
export class RulesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly kernel: KernelService,
  ) {}

  async list({ source }: RuleQuery): Promise<ItemList<RuleView>> {
    const views = await this.views(this.dataSource.manager);
    const items = source === undefined ? views : views.filter((view) => view.source === source);
    return { items, total: items.length };
  }

  /** @throws AppError INVALID_ARGUMENT for a bad rule, UNPROCESSABLE for an unknown target or neighbour. */
  create(body: RuleBody): Promise<RuleView> {
    const definition = readDefinition(body);
    return this.change(async (tx) => {
      const target = await resolveTarget(tx, definition.target);
      const priority = await this.place(tx, body, null);
      const rule = tx.create(Rule, { ...definition, target, priority, source: 'manual', note: body.note ?? null });
      rule.enabled = body.enabled ?? true;
      return (await tx.save(rule)).id;
    });
  }

  /** @throws AppError NOT_FOUND, CONFLICT for a rule that is not manual, else as `create`. */
  update(id: number, body: RuleBody): Promise<RuleView> {
    return this.change(async (tx) => {
      const rule = await findManual(tx, id);
      const definition = readDefinition(body, rule);
      // A target that is gone may stay while something else of the rule changes.
      const target = definition.target === rule.target ? rule.target : await resolveTarget(tx, definition.target);
      Object.assign(rule, definition, { target });
      rule.enabled = body.enabled ?? rule.enabled;
      if (body.note !== undefined) rule.note = body.note;
      if (isPlaced(body)) rule.priority = await this.place(tx, body, id);
      return (await tx.save(rule)).id;
    });
  }

  /** @throws AppError NOT_FOUND, CONFLICT for a rule that is not manual. */
  async remove(id: number): Promise<RuleDeletedResponse> {
    await this.unitOfWork.run(async (tx) => {
      await lockRules(tx);
      await tx.remove(await findManual(tx, id));
      await announceRules(tx);
    });
    await this.kernel.sync();
    return { id, deleted: true };
  }

  private async change(work: (tx: EntityManager) => Promise<number>): Promise<RuleView> {
    const id = await this.unitOfWork.run(async (tx) => {
      await lockRules(tx);
      const changed = await work(tx);
      await announceRules(tx);
      return changed;
    });
    await this.kernel.sync();
    const view = (await this.views(this.dataSource.manager)).find((candidate) => candidate.id === id);
    if (view === undefined) throw new AppError('CONFLICT', 'The rule was deleted by another request');
    return view;
  }

  /** Finds the rule's place among the others and moves them where there is no room. */
  private async place(tx: EntityManager, body: RuleBody, ownId: number | null): Promise<number> {
    if (body.priority !== undefined) return body.priority;
    const all = await tx.find(Rule, { order: { priority: 'ASC', id: 'ASC' }, where: { source: 'manual' } });
    const placement = placementOf(
      body,
      all.filter((rule) => rule.id !== ownId),
    );
    for (const { id, priority } of placement.moved) await tx.update(Rule, id, { priority });
    return placement.priority;
  }

  private dialledNodes(): ReadonlySet<string> | null {
    const { config } = this.kernel;
    return config === null ? null : new Set(config.outbounds.map(({ tag }) => tag));
  }

  private async views(manager: EntityManager): Promise<RuleView[]> {
    const rules = await manager.find(Rule, { order: { priority: 'ASC', id: 'ASC' } });
    const tags = rules.map((rule) => rule.target);
    const targets = await describeTargets(manager, tags, this.dialledNodes());
    let next = 0;
    return rules.map((rule) =>
      toRuleView(rule, { target: targets.get(rule.target), index: rule.enabled ? next++ : null }),
    );
  }
}

function placementOf(body: RuleBody, others: readonly Rule[]): Placement {
  if (body.before_id == null && body.after_id == null) return placeLast(others);
  const anchor = body.before_id == null ? { after: body.after_id ?? 0 } : { before: body.before_id };
  const placement = placeBeside(others, anchor);
  if (placement !== null) return placement;
  const field = body.before_id == null ? 'after_id' : 'before_id';
  const message = 'is no other manual rule';
  throw new AppError('UNPROCESSABLE', `${field}: ${message}`, { details: [{ field, message }] });
}

function isPlaced(body: RuleBody): boolean {
  return body.priority != null || body.before_id != null || body.after_id != null;
}

async function findManual(tx: EntityManager, id: number): Promise<Rule> {
  const rule = await tx.findOneBy(Rule, { id });
  if (rule === null) throw new AppError('NOT_FOUND', `There is no rule ${id}`);
  if (rule.source !== 'manual') throw new AppError('CONFLICT', `Rule ${id} belongs to its ${rule.source}`);
  return rule;
}
