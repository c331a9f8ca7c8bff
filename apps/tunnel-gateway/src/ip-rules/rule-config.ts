import type { IpRuleConfig } from '@gatehouse/tunnel-kernel';
import type { WholeRule } from './rule-requests.js';

/** Maps a stored rule to the form that is compiled. */
export function toRuleConfig({ rule, requests }: WholeRule): IpRuleConfig {
  const { id, scope, resourceId, type, patternKind: kind, pattern, priority } = rule;
  return { id, scope, resourceId: resourceId ?? 0, type, kind, pattern, priority: priority ?? 0, ...requests };
}
