import type { Page, RuleDeletedResponse, RuleView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { KernelService } from '../kernel-process/kernel.service.js';
import { movePriorities } from './rule-rows.store.js';
import { announceRules, lockRules, nextRevision } from './rule-changes.js';
import { requireTaken } from './kernel-rules.js';
import { readDefinition, type StoredDefinition } from './rule-definition.js';
import { filterRules, type RuleFilter } from './rule-filter.js';
import { RuleList } from '../kernel-config/rule-list.js';
import { placeBeside, placeLast } from './rule-order.js';
import type { OrderedRule, Placement } from './rule-order.js';
import { resolveTarget } from './rule-targets.js';
import { RuleViews } from './rule-views.js';
import type { RuleBody } from './rule.dto.js';
import { Rule } from '../data/rule.entity.js';

@Injectable()
export class RulesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly kernel: KernelService,
    private readonly list: RuleList,
    private readonly views: RuleViews,
  ) {}

  /** A page of rules by priority; with a source, in the order of evaluation. */
  listRules(filter: RuleFilter, limit: number, offset: number): Promise<Page<RuleView>> {
    return this.dataSource.transaction('REPEATABLE READ', async (tx) => {
      const query = filterRules(tx.createQueryBuilder(Rule, 'rule'), filter);
      const [rows, total] = await query
        .orderBy('rule.priority')
        .addOrderBy('rule.id')
        .take(limit)
        .skip(offset)
        .getManyAndCount();
      const items = await this.views.of(tx, rows, await this.list.load(tx));
      return { items, total, limit, offset };
    });
  }

  /** @throws AppError NOT_FOUND. */
  get(id: number): Promise<RuleView> {
    return this.dataSource.transaction('REPEATABLE READ', async (tx) => {
      const rule = await tx.findOneBy(Rule, { id });
      const [view] = rule === null ? [] : await this.views.of(tx, [rule], await this.list.load(tx));
      if (view === undefined) throw notFound(id);
      return view;
    });
  }

  /** @throws AppError INVALID_ARGUMENT for an invalid rule, UNPROCESSABLE for an unknown target or neighbour, or a rule
   * that the running kernel does not take. */
  async create(body: RuleBody): Promise<RuleView> {
    const definition = readDefinition(body);
    await requireTaken(this.kernel, definition, fieldOf(body));
    return this.change(async (tx) => {
      const target = await resolveTarget(tx, definition.target);
      const priority = await this.place(tx, body, null);
      const rule = tx.create(Rule, { ...definition, target, priority, source: 'manual', note: body.note ?? null });
      rule.enabled = body.enabled ?? true;
      rule.afterProfile = body.after_profile ?? false;
      return (await tx.save(rule)).id;
    });
  }

  /** @throws AppError NOT_FOUND, CONFLICT for a rule that is not manual, otherwise as `create`. */
  update(id: number, body: RuleBody): Promise<RuleView> {
    return this.change(async (tx) => {
      const rule = await findManual(tx, id);
      const definition = readDefinition(body, rule);
      if (isAnother(definition, rule)) await requireTaken(this.kernel, definition, fieldOf(body));
      // A target that is gone is accepted while it stays the same.
      const target = definition.target === rule.target ? rule.target : await resolveTarget(tx, definition.target);
      Object.assign(rule, definition, { target });
      rule.enabled = body.enabled ?? rule.enabled;
      if (body.after_profile !== undefined && body.after_profile !== rule.afterProfile) {
        rule.afterProfile = body.after_profile;
        await nextRevision(tx);
      }
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
    try {
      return await this.get(id);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      throw new AppError('CONFLICT', 'The rule was deleted by another request', { cause: error });
    }
  }

  /** Finds the rule's priority among the others, and moves them if there is no room. */
  private async place(tx: EntityManager, body: RuleBody, ownId: number | null): Promise<number> {
    if (body.priority !== undefined) return body.priority;
    const others: OrderedRule[] = await tx.query(
      `SELECT id, type, priority FROM rules WHERE source = 'manual' AND id IS DISTINCT FROM $1 ORDER BY priority, id`,
      [ownId],
    );
    const placement = placementOf(body, others);
    await movePriorities(tx, placement.moved);
    return placement.priority;
  }
}

function placementOf(body: RuleBody, others: readonly OrderedRule[]): Placement {
  if (body.before_id == null && body.after_id == null) return placeLast(others);
  const anchor = body.before_id == null ? { after: body.after_id ?? 0 } : { before: body.before_id };
  const placement = placeBeside(others, anchor);
  if (placement !== null) return placement;
  const field = body.before_id == null ? 'after_id' : 'before_id';
  const message = 'is not another manual rule';
  throw new AppError('UNPROCESSABLE', `${field}: ${message}`, { details: [{ field, message }] });
}

/** The field that the rule was written in. */
function fieldOf(body: RuleBody): string {
  return body.raw === undefined ? 'payload' : 'raw';
}

/** A change of other fields must stay possible for a rule that another kernel took. */
function isAnother(definition: StoredDefinition, rule: Rule): boolean {
  return definition.type !== rule.type || definition.payload !== rule.payload;
}

function isPlaced(body: RuleBody): boolean {
  return body.priority != null || body.before_id != null || body.after_id != null;
}

async function findManual(tx: EntityManager, id: number): Promise<Rule> {
  const rule = await tx.findOneBy(Rule, { id });
  if (rule === null) throw notFound(id);
  if (rule.source !== 'manual') throw new AppError('CONFLICT', `Rule ${id} belongs to its ${rule.source}`);
  return rule;
}

function notFound(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no rule ${id}`);
}
