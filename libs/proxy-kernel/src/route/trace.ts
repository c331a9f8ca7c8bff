import type { RuleConfig } from '../interfaces/config.js';
import type { TraceStep } from '../interfaces/connection.js';
import type { RoutedFlow } from '../interfaces/route.js';
import { createMatcher } from './rule/create-matcher.js';
import { UNRESOLVED } from './rule/match-address.js';
import type { MatcherContext, RuleMatcher } from './rule/matcher-context.js';
import { isAddressRule } from './rule/rule-type.js';

export interface TraceContext {
  index: number;
  /** The flow as seen by this rule: with an address if it was resolved for this or an earlier rule. */
  flow: RoutedFlow;
  /** Whether the rule's target exists. */
  exists: boolean;
  /** Why the rule's target would refuse the flow; null if it would not. */
  refusal: string | null;
  /** Why the name did not resolve. */
  dnsError: string | null;
  context: MatcherContext;
}

/** How a rule evaluated a flow. The matcher is created for each trace, since traces are rare and rule lists long. */
export function traceStep(rule: RuleConfig, context: TraceContext): TraceStep {
  const step = { index: context.index, type: rule.type, payload: rule.payload };
  if (!context.exists) return { ...step, result: 'skipped', reason: `target ${rule.target} does not exist` };
  const matcher = createMatcher(rule, context.context);
  if (matcher.missingSet) {
    return { ...step, result: 'skipped', reason: `rule set ${matcher.missingSet} does not exist` };
  }
  // A matcher may give the flow its address.
  if (matcher.matches({ ...context.flow }) === true)
    return context.refusal === null
      ? { ...step, result: 'match' }
      : { ...step, result: 'skipped', reason: context.refusal };
  const reason = missReason(rule, matcher, context);
  return reason === null ? { ...step, result: 'miss' } : { ...step, result: 'miss', reason };
}

function missReason(rule: RuleConfig, matcher: RuleMatcher, { flow: seen, dnsError }: TraceContext): string | null {
  const { resolvable, ...flow } = seen;
  if (resolvable !== undefined) flow.destinationIp ??= resolvable;
  const { destinationIp } = flow;
  if (rule.src === true || (destinationIp !== null && destinationIp !== UNRESOLVED)) return null;
  // The rule's result before the name was resolved.
  const asks = matcher.matches({ ...flow, destinationIp: null }) === 'needs-ip';
  if (asks) return dnsError === null ? 'not resolved' : `DNS failed: ${dnsError}`;
  if (!isAddressRule(rule)) return null;
  if (destinationIp === UNRESOLVED) return dnsError === null ? null : `DNS failed: ${dnsError}`;
  return flow.host === null ? 'no address' : 'no-resolve';
}
