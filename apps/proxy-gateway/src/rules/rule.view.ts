import type { RuleView } from '@gatehouse/contracts';
import { rawOf } from './rule-definition.js';
import type { TargetState } from './rule-targets.js';
import type { Rule } from './rule.entity.js';

/** What a rule's row does not say about it. */
export interface RuleSurroundings {
  target: TargetState | undefined;
  /** Position in the list the kernel tries; null when it is not in it. */
  index: number | null;
}

export function toRuleView(rule: Rule, { target, index }: RuleSurroundings): RuleView {
  const error = target === undefined ? `target ${rule.target} does not exist` : target.problem;
  return {
    id: rule.id,
    source: rule.source,
    type: rule.type,
    payload: rule.payload,
    target: rule.target,
    target_name: target?.name ?? null,
    options: { no_resolve: rule.noResolve, src: rule.src },
    enabled: rule.enabled,
    priority: rule.priority,
    index,
    size: -1,
    note: rule.note,
    raw: rawOf(rule),
    subscription_id: rule.subscriptionId,
    hit_count: rule.hitCount,
    hit_at: rule.hitAt?.toISOString() ?? null,
    valid: error === null,
    error,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  };
}
