import type { IpRuleView } from './ip-rule.js';

/** The result of one level of rules for an address. */
export interface IpRuleCheckLevel {
  scope: IpRuleView['scope'];
  /** @asType integer */
  resource_id: number;
  /**
   * `allowed`, `denied`: by the rule. `not_listed`: no rule matches the address, and this level allows only others.
   * `no_match`: no rule matches it. `not_reached`: an earlier level denied it.
   */
  outcome: 'allowed' | 'denied' | 'not_listed' | 'no_match' | 'not_reached';
  /** The rule that decided; null: none, or one that the caller may not see. */
  rule: IpRuleView | null;
  /** Whether the level has rules for countries, autonomous systems or lists while their database or list is not loaded. */
  unresolved: boolean;
}

/** Whether an address is let in, and why: the levels in the order in which they are checked. */
export interface IpRuleCheck {
  /** The address in canonical form. */
  ip: string;
  allowed: boolean;
  /** Country of the address, two capital letters; null: unknown, or no country database is loaded. */
  country: string | null;
  /** Number of the autonomous system of the address; null: unknown, or no database of them is loaded. */
  asn: number | null;
  /** The request that was checked; null: nobody sees one there, as with tunnels and hosts that pass TLS on. */
  request: { method: string; path: string } | null;
  levels: IpRuleCheckLevel[];
}

/** A created or changed rule. */
export interface WrittenIpRuleView extends IpRuleView {
  /** A warning for its author, such as that no country database is loaded; null if there is none. */
  warning: string | null;
}
