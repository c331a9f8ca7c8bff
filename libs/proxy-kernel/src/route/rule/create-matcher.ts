import type { RuleType } from '../../interfaces/config.js';
import { parseCondition, splitConditions } from './condition-text.js';
import { DomainKeywordMatcher } from './domain-keyword.js';
import { DomainRegexMatcher } from './domain-regex.js';
import { DomainSuffixMatcher } from './domain-suffix.js';
import { DomainWildcardMatcher } from './domain-wildcard.js';
import { DomainMatcher } from './domain.js';
import { GeoIpMatcher } from './geoip.js';
import { InTypeMatcher, InboundNameMatcher } from './inbound.js';
import { IpAsnMatcher } from './ip-asn.js';
import { IpCidrMatcher } from './ip-cidr.js';
import { IpSuffixMatcher } from './ip-suffix.js';
import { type LogicType, LogicMatcher } from './logic.js';
import { MatchMatcher } from './match.js';
import type { MatcherContext, RuleMatcher, RuleSetHandle } from './matcher-context.js';
import { NetworkMatcher } from './network.js';
import { PortMatcher } from './port.js';
import { RuleError } from './rule-error.js';
import { RuleSetMatcher, setNameOf } from './rule-set.js';
import { type RuleCondition, refusedType } from './rule-type.js';

/** The deepest nesting of AND, OR and NOT. */
const MAX_DEPTH = 8;

/** Suffices to check a rule. */
export const EMPTY_CONTEXT: MatcherContext = { country: () => null, asn: () => null, sets: { get: () => null } };

type Construct = (rule: RuleCondition, context: MatcherContext, depth: number) => RuleMatcher;

const CONSTRUCTORS: Readonly<Record<RuleType, Construct>> = {
  DOMAIN: (rule) => new DomainMatcher(rule.payload),
  'DOMAIN-SUFFIX': (rule) => new DomainSuffixMatcher(rule.payload),
  'DOMAIN-KEYWORD': (rule) => new DomainKeywordMatcher(rule.payload),
  'DOMAIN-WILDCARD': (rule) => new DomainWildcardMatcher(rule.payload),
  'DOMAIN-REGEX': (rule) => new DomainRegexMatcher(rule.payload),
  GEOSITE: (rule, context) => createSetMatcher('GEOSITE', rule, context),
  'IP-CIDR': (rule) => new IpCidrMatcher('IP-CIDR', rule.payload, addressOptions(rule)),
  'IP-CIDR6': (rule) => new IpCidrMatcher('IP-CIDR6', rule.payload, addressOptions(rule)),
  'IP-SUFFIX': (rule) => new IpSuffixMatcher(rule.payload, addressOptions(rule)),
  'IP-ASN': (rule, { asn }) => new IpAsnMatcher(rule.payload, addressOptions(rule), asn),
  GEOIP: (rule, { country }) => new GeoIpMatcher(rule.payload, addressOptions(rule), country),
  'DST-PORT': (rule) => new PortMatcher('DST-PORT', rule.payload),
  'SRC-PORT': (rule) => new PortMatcher('SRC-PORT', rule.payload),
  'IN-PORT': (rule) => new PortMatcher('IN-PORT', rule.payload),
  'IN-TYPE': (rule) => new InTypeMatcher(rule.payload),
  'IN-USER': (rule) => new InboundNameMatcher('IN-USER', rule.payload),
  'IN-NAME': (rule) => new InboundNameMatcher('IN-NAME', rule.payload),
  NETWORK: (rule) => new NetworkMatcher(rule.payload),
  'RULE-SET': (rule, context) => createSetMatcher('RULE-SET', rule, context),
  AND: (rule, context, depth) => createLogicMatcher('AND', rule.payload, context, depth),
  OR: (rule, context, depth) => createLogicMatcher('OR', rule.payload, context, depth),
  NOT: (rule, context, depth) => createLogicMatcher('NOT', rule.payload, context, depth),
  MATCH: (rule) => new MatchMatcher(rule.payload),
};

/** @throws RuleError */
export function createMatcher(rule: RuleCondition, context: MatcherContext, depth = 0): RuleMatcher {
  if (!Object.hasOwn(CONSTRUCTORS, rule.type)) throw refusedType(String(rule.type));
  return CONSTRUCTORS[rule.type](rule, context, depth);
}

export interface SetCondition {
  condition: RuleCondition;
  matcher: RuleMatcher;
}

/** Created once for a context, however many rules and conditions name the set. */
const setConditionsOf = new WeakMap<MatcherContext, Map<string, readonly SetCondition[]>>();

/** The conditions of a set that are in no table, with the options of the rule that names it. */
export function setConditions(
  rule: RuleCondition,
  set: RuleSetHandle,
  context: MatcherContext,
): readonly SetCondition[] {
  const known = setConditionsOf.get(context) ?? new Map<string, readonly SetCondition[]>();
  setConditionsOf.set(context, known);
  const key = `${set.number},${rule.noResolve === true},${rule.src === true}`;
  const made =
    known.get(key) ??
    set.others.map((other) => {
      const condition = withOptionsOf(rule, other);
      return { condition, matcher: createMatcher(condition, context) };
    });
  known.set(key, made);
  return made;
}

/** A condition of a set, with the options of the rule that names the set. */
function withOptionsOf(rule: RuleCondition, condition: RuleCondition): RuleCondition {
  return {
    ...condition,
    // As in mihomo nothing in a set is resolved for a rule about the client's address.
    noResolve: condition.noResolve === true || rule.noResolve === true || rule.src === true,
    src: condition.src === true || rule.src === true,
  };
}

function createSetMatcher(type: 'RULE-SET' | 'GEOSITE', rule: RuleCondition, context: MatcherContext): RuleMatcher {
  const { payload } = rule;
  const set = context.sets.get(setNameOf(type, payload));
  const others = set ? setConditions(rule, set, context).map(({ matcher }) => matcher) : [];
  const ordered = set?.ordered?.map((condition) => createMatcher(withOptionsOf(rule, condition), context)) ?? null;
  return new RuleSetMatcher({ type, payload, options: addressOptions(rule), set, others, ordered });
}

function createLogicMatcher(type: LogicType, payload: string, context: MatcherContext, depth: number): RuleMatcher {
  if (depth >= MAX_DEPTH) throw new RuleError('payload', `conditions nest deeper than ${MAX_DEPTH}`);
  const conditions = splitConditions(payload).map((text) => createCondition(text, context, depth));
  return new LogicMatcher(type, conditions);
}

function createCondition(text: string, context: MatcherContext, depth: number): RuleMatcher {
  const condition = parseCondition(text);
  if (condition.type === 'MATCH') throw new RuleError('payload', 'MATCH is no condition');
  try {
    return createMatcher(condition, context, depth + 1);
  } catch (error) {
    if (error instanceof RuleError) throw new RuleError('payload', `${condition.type}: ${error.message}`);
    throw error;
  }
}

function addressOptions(rule: RuleCondition): { noResolve: boolean; src: boolean } {
  return { noResolve: rule.noResolve === true, src: rule.src === true };
}
