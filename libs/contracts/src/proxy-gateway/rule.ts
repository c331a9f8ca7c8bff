/** Where a rule comes from; the kernel tries them in this order: system, manual, ruleset, subscription. */
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
  /** Clash name of the type, upper case: `DOMAIN-SUFFIX`. */
  type: string;
  /** Empty for MATCH. */
  payload: string;
  /** Group name, built-in, or the tag of a node (`n12`), which survives a rename. */
  target: string;
  /** What people call the target: for a node its name. Null when the target is gone. */
  target_name: string | null;
  options: RuleOptionsView;
  enabled: boolean;
  /** Lower goes first; ties go by id. */
  priority: number;
  /** Position in the list the kernel tries, from 0; null while the rule is disabled. */
  index: number | null;
  /** Entries behind GEOIP, GEOSITE or RULE-SET; -1 for every other type. */
  size: number;
  note: string | null;
  /** The rule as one Clash line. */
  raw: string;
  subscription_id: number | null;
  /** The set whose own rule it is. */
  rule_set_id: number | null;
  hit_count: number;
  hit_at: string | null;
  /** False: the kernel skips it, and `error` says why. */
  valid: boolean;
  error: string | null;
  created_at: string;
  updated_at: string;
}

/** One rule of `GET /rules/merged`. */
export interface MergedRuleView extends RuleView {
  index: number;
  /** Whether any flow can meet it: it is valid, and no earlier rule takes all that it would. */
  effective: boolean;
  /** `index` of the earlier rule that takes all that this one would; null where there is none. */
  shadowed_by: number | null;
}

/** `GET /rules/merged`: the rules that the kernel tries, in its order. */
export interface MergedRulesResponse {
  /** Changes with the rules and with what their targets are. */
  version: string;
  items: MergedRuleView[];
  total: number;
  limit: number;
  offset: number;
  generated_at: string;
  /** Takes what no rule matches. */
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

/** `POST /rules/test`: what a connection to the url would meet, decided by the kernel itself. */
export interface RuleTestResponse {
  url: string;
  scheme: string;
  host: string;
  port: number;
  network: 'tcp' | 'udp';
  /** Addresses of the host, as far as routing needed them. */
  ip: string[];
  /** Whether a rule made the kernel ask the DNS. */
  resolved: boolean;
  /** False: no rule matched, and `target` is the default policy. */
  matched: boolean;
  rule: RuleTestRule | null;
  target: string;
  /** From the target through its groups to the outbound, by the names people know. */
  chain: string[];
  node: RuleTestNode | null;
  outbound_type: string;
  would_use_udp: boolean;
  /** The first steps and the one that matched. */
  trace: RuleTestStep[];
  /** Rules tried, in `trace` or not. */
  evaluated: number;
  /** Microseconds. */
  elapsed_us: number;
}
