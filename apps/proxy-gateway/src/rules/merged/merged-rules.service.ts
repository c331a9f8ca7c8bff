import { createHash } from 'node:crypto';
import type { MergedRulesResponse } from '@gatehouse/contracts';
import { findShadowedInSlices, lookupOfSet, type RuleConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { KernelService } from '../../kernel-process/kernel.service.js';
import { OutboundPolicyEntity } from '../../data/outbound-policy.entity.js';
import { RuleList } from '../../kernel-config/rule-list.js';
import type { MergedRules } from '../../kernel-config/rule-list.js';
import { filterRules, isFiltered, type RuleFilter } from '../rule-filter.js';
import { RuleViews } from '../rule-views.js';
import { Rule } from '../../data/rule.entity.js';
import { problemOf, toRuleView, type RuleSurroundings } from '../rule.view.js';
import { setProblem } from '../../kernel-config/set-states.js';
import { targetsThatTake } from './always-takes.js';

/**
 * The results that need a look at every rule. Valid for one revision of the rules, for the same set of unusable targets,
 * and while rule sets have names resolved as before.
 */
interface Analysis {
  shadowedBy: readonly (number | null)[];
  generatedAt: Date;
}

/** The merged list of rules, with the state of each rule in it. */
@Injectable()
export class MergedRulesService {
  /** Concurrent callers share one analysis. */
  private latest: { version: string; analysis: Promise<Analysis> } | null = null;

  constructor(
    private readonly dataSource: DataSource,
    private readonly list: RuleList,
    private readonly views: RuleViews,
    private readonly kernel: KernelService,
  ) {}

  /** The rules that match the filter keep the `index` that they have among all. */
  page(filter: RuleFilter, limit: number, offset: number): Promise<MergedRulesResponse> {
    return this.dataSource.transaction('REPEATABLE READ', async (tx) => {
      const merged = await this.list.load(tx);
      const surroundings = await this.views.surroundings(tx, merged.targets);
      const { defaultPolicy } = await tx.findOneByOrFail(OutboundPolicyEntity, { id: 1 });
      const { version, analysis } = this.analyse(merged, surroundings, defaultPolicy);
      const { shadowedBy, generatedAt } = await analysis;
      const found = isFiltered(filter) ? await matchingRules(tx, merged, filter) : merged.rules;
      const rows = await readRows(tx, found.slice(offset, offset + limit));
      const items = rows.map((row) => {
        const index = merged.positions.get(row.id) ?? 0;
        const view = toRuleView(row, surroundings, index);
        const shadow = shadowedBy[index] ?? null;
        return { ...view, index, effective: view.valid && shadow === null, shadowed_by: shadow };
      });
      return {
        version,
        items,
        total: found.length,
        limit,
        offset,
        generated_at: generatedAt.toISOString(),
        default_policy: defaultPolicy,
      };
    });
  }

  private analyse(
    merged: MergedRules,
    surroundings: RuleSurroundings,
    defaultPolicy: string,
  ): { version: string; analysis: Promise<Analysis> } {
    const problemOfCondition = merged.naming.map((rule) => setProblem(rule, surroundings));
    const unusable = merged.targets.filter((target) => surroundings.targets.get(target)?.problem !== null);
    const config = this.kernel.config;
    const takes = targetsThatTake(config);
    const ruleSets = config?.ruleSets ?? [];
    const lookups = ruleSets.map((set) => [set.name, lookupOfSet(set)]);
    const taking = merged.targets.filter(takes);
    const version = createHash('sha256')
      .update(JSON.stringify([merged.revision, defaultPolicy, unusable, taking, problemOfCondition, lookups]))
      .digest('hex')
      .slice(0, 16);
    if (this.latest?.version === version) return this.latest;
    // Rules that the kernel skips shadow nothing.
    const rules = merged.rules.map((rule) =>
      problemOf(rule, surroundings) === null ? rule : { ...rule, enabled: false },
    );
    const analysis = findShadowedInSlices(rules, { alwaysTakes: takes, ruleSets }).then((shadowedBy) => ({
      shadowedBy,
      generatedAt: new Date(),
    }));
    const made = { version, analysis };
    this.latest = made;
    analysis.catch(() => {
      if (this.latest === made) this.latest = null;
    });
    return made;
  }
}

async function matchingRules(tx: EntityManager, { rules }: MergedRules, filter: RuleFilter): Promise<RuleConfig[]> {
  const query = filterRules(tx.createQueryBuilder(Rule, 'rule').select('rule.id', 'id'), filter);
  const ids = new Set((await query.andWhere('rule.enabled').getRawMany<{ id: number }>()).map(({ id }) => id));
  return rules.filter(({ id }) => id !== null && ids.has(id));
}

async function readRows(tx: EntityManager, rules: readonly RuleConfig[]): Promise<Rule[]> {
  const ids = rules.flatMap(({ id }) => (id === null ? [] : [id]));
  const rows = new Map((await tx.findBy(Rule, { id: In(ids) })).map((row) => [row.id, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}
