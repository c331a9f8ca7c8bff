import type { IpRuleConfig } from '@gatehouse/tunnel-kernel';
import type { IpRule } from '../data/ip-rule.entity.js';

/** Maps a stored rule to the form that is compiled. */
export function toRuleConfig(rule: IpRule): IpRuleConfig {
  const { id, scope, resourceId, type, patternKind: kind, pattern, priority } = rule;
  return { id, scope, resourceId: resourceId ?? 0, type, kind, pattern, priority: priority ?? 0 };
}
