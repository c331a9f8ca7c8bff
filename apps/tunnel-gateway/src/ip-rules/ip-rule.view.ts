import type { IpRuleView } from '@gatehouse/contracts';
import { instant } from '../wire/view-parts.js';
import type { WholeRule } from './rule-requests.js';

export function toIpRuleView({ rule, requests }: WholeRule): IpRuleView {
  return {
    id: rule.id,
    scope: rule.scope,
    resource_id: rule.resourceId ?? 0,
    type: rule.type,
    pattern: rule.pattern,
    pattern_kind: rule.patternKind,
    paths: requests.paths,
    methods: requests.methods,
    priority: rule.priority ?? 0,
    remark: rule.remark,
    created_at: instant(rule.createdAt),
    updated_at: instant(rule.updatedAt),
  };
}
