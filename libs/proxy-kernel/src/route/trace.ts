import type { RuleConfig } from '../interfaces/config.js';
import type { ConnectionMetadata, TraceStep } from '../interfaces/connection.js';
import type { CountryLookup } from '../interfaces/route.js';
import { createMatcher, isAddressRule } from './rule/create-matcher.js';

export interface TraceContext {
  index: number;
  /** The flow as this rule saw it: with an address once an earlier rule, or this one, had it resolved. */
  flow: ConnectionMetadata;
  /** Whether the rule's target does. */
  exists: boolean;
  /** Why the rule's target would not take the flow; null when it would. */
  refusal: string | null;
  /** Why the name did not resolve. */
  dnsError: string | null;
  country: CountryLookup;
}

/** What one rule made of a flow. The matcher is made for the occasion: traces are rare and rule lists long. */
export function traceStep(rule: RuleConfig, context: TraceContext): TraceStep {
  const step = { index: context.index, type: rule.type, payload: rule.payload };
  if (!context.exists) return { ...step, result: 'skipped', reason: `target ${rule.target} does not exist` };
  const matched = createMatcher(rule, context.country).matches(context.flow) === true;
  if (matched)
    return context.refusal === null
      ? { ...step, result: 'match' }
      : { ...step, result: 'skipped', reason: context.refusal };
  const reason = missReason(rule, context);
  return reason === null ? { ...step, result: 'miss' } : { ...step, result: 'miss', reason };
}

function missReason(rule: RuleConfig, { flow, dnsError }: TraceContext): string | null {
  if (!isAddressRule(rule) || rule.src === true || flow.destinationIp !== null) return null;
  if (flow.host === null) return 'no address';
  if (rule.noResolve === true) return 'no-resolve';
  return dnsError === null ? 'not resolved' : `DNS failed: ${dnsError}`;
}
