/** The source of a rule. The kernel tries rules in this order: system, manual, ruleset, subscription. */
export const RULE_SOURCES = ['manual', 'subscription', 'system', 'ruleset'] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

export interface RuleOptionsView {
  no_resolve: boolean;
  src: boolean;
}

/** One rule of `GET /rules`. */
export interface RuleView {
  id: number;
  source: RuleSource;
  /** The type's name in Clash, in upper case: `DOMAIN-SUFFIX`. */
  type: string;
  /** Empty for MATCH. */
  payload: string;
  /** A group's name, a built-in, or a node's tag (`n12`), which survives a rename. */
  target: string;
  /** The target's name as users see it. Null if the target is gone. */
  target_name: string | null;
  options: RuleOptionsView;
  enabled: boolean;
  /** Lower goes first; ties go by id. */
  priority: number;
  /** A rule made here that stands behind the profile's rules, before its closing MATCH. */
  after_profile: boolean;
  /** Position in the kernel's list, from 0; null while the rule is disabled. */
  index: number | null;
  /** The number of entries behind GEOIP, GEOSITE or RULE-SET; -1 for all other types. */
  size: number;
  note: string | null;
  /** The rule as one Clash line. */
  raw: string;
  subscription_id: number | null;
  /** The set that owns the rule. */
  rule_set_id: number | null;
  hit_count: number;
  hit_at: string | null;
  /** False: the kernel skips the rule, and `error` says why. */
  valid: boolean;
  error: string | null;
  created_at: string;
  updated_at: string;
}

/** One rule of `GET /rules/merged`. */
export interface MergedRuleView extends RuleView {
  index: number;
  /** Whether any flow can match it: it is valid, and no earlier rule matches all of its flows. */
  effective: boolean;
  /** `index` of an earlier rule that matches all of its flows; null if there is none. */
  shadowed_by: number | null;
}

/** `GET /rules/merged`: the kernel's rules in the order of evaluation. */
export interface MergedRulesResponse {
  /** Changes with the rules and with the state of their targets. */
  version: string;
  items: MergedRuleView[];
  total: number;
  limit: number;
  offset: number;
  generated_at: string;
  /** The target of flows that no rule matched. */
  default_policy: string;
}

/** `DELETE /rules/{id}`. */
export interface RuleDeletedResponse {
  id: number;
  deleted: true;
}

export interface RuleTestRule {
  index: number;
  id: number | null;
  source: string;
  type: string;
  payload: string;
  target: string;
  raw: string;
}

export interface RuleTestStep {
  index: number;
  type: string;
  payload: string;
  result: 'match' | 'miss' | 'skipped';
  reason: string | null;
}

export interface RuleTestNode {
  id: number;
  name: string;
  type: string;
  country: string | null;
  alive: boolean | null;
}

/** `POST /rules/test`: the result for a connection to the URL, decided by the kernel itself. */
export interface RuleTestResponse {
  url: string;
  scheme: string;
  host: string;
  port: number;
  network: 'tcp' | 'udp';
  /** Addresses of the host, if routing needed them. */
  ip: string[];
  /** Whether a rule made the kernel resolve the name. */
  resolved: boolean;
  /** False: no rule matched, and `target` is the default policy. */
  matched: boolean;
  rule: RuleTestRule | null;
  target: string;
  /** From the target through its groups to the outbound, with the names that users see. */
  chain: string[];
  node: RuleTestNode | null;
  outbound_type: string;
  would_use_udp: boolean;
  /** Why the flow would be refused although the rules allow it: nothing is what its user asks for. */
  refusal: string | null;
  /** The first steps, and the one that matched. */
  trace: RuleTestStep[];
  /** The number of rules tried, whether in `trace` or not. */
  evaluated: number;
  /** Microseconds. */
  elapsed_us: number;
}
