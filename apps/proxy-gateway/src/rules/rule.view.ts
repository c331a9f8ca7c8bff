import type { RuleView } from '@gatehouse/contracts';
import { rawOf } from './rule-definition.js';
import type { Rule } from '../data/rule.entity.js';
import { setProblem, sizeOf, type NamedSets } from '../kernel-config/set-states.js';
import type { TargetState } from './rule-targets.js';

/** The targets, sets and lists that rules can name. */
export interface RuleSurroundings extends NamedSets {
  targets: ReadonlyMap<string, TargetState>;
  /** The subscription whose profile drives the rules; null: none. */
  activeProfile: number | null;
}

/** @param index the position in the kernel's list; null if it is not in it. */
export function toRuleView(rule: Rule, surroundings: RuleSurroundings, index: number | null): RuleView {
  const error = problemOf(rule, surroundings);
  return {
    id: rule.id,
    source: rule.source,
    type: rule.type,
    payload: rule.payload,
    target: rule.target,
    target_name: surroundings.targets.get(rule.target)?.name ?? null,
    options: { no_resolve: rule.noResolve, src: rule.src },
    enabled: rule.enabled,
    priority: rule.priority,
    after_profile: rule.afterProfile,
    index,
    size: sizeOf(rule, surroundings),
    note: rule.note,
    raw: rawOf(rule),
    subscription_id: rule.subscriptionId,
    rule_set_id: rule.ruleSetId,
    hit_count: rule.hitCount,
    hit_at: rule.hitAt?.toISOString() ?? null,
    valid: error === null,
    error,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  };
}

/** Why the kernel skips a rule; null if it does not. */
export function problemOf(
  rule: { type: string; payload: string; target: string; subscriptionId?: number | null },
  surroundings: RuleSurroundings,
): string | null {
  const { subscriptionId = null } = rule;
  if (subscriptionId !== null && subscriptionId !== surroundings.activeProfile) {
    return `the profile of subscription ${subscriptionId} is not active`;
  }
  const target = surroundings.targets.get(rule.target);
  if (target === undefined) return `target ${rule.target} does not exist`;
  return target.problem ?? setProblem(rule, surroundings);
}
