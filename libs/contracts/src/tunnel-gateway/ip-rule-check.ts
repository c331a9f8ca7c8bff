import type { IpRuleView } from './ip-rule.js';

/** What one level of rules says about an address. */
export interface IpRuleCheckLevel {
  scope: IpRuleView['scope'];
  /** @asType integer */
  resource_id: number;
  /**
   * `allowed`, `denied`: by the rule. `not_listed`: no rule is about the address, and others are allowed here.
   * `no_match`: no rule is about it. `not_reached`: a level before refused.
   */
  outcome: 'allowed' | 'denied' | 'not_listed' | 'no_match' | 'not_reached';
  /** The rule that counted; null: none, or one that is not the caller's to see. */
  rule: IpRuleView | null;
  /** The level has rules about countries, and no database of countries is loaded. */
  unresolved: boolean;
}

/** Whether an address may come in, and why, level by level in the order in which they are asked. */
export interface IpRuleCheck {
  /** In canonical form. */
  ip: string;
  allowed: boolean;
  /** Of the address: two capital letters; null: none is known, or no database of countries is loaded. */
  country: string | null;
  levels: IpRuleCheckLevel[];
}

/** A rule that was made or changed. */
export interface WrittenIpRuleView extends IpRuleView {
  /** What its author should know, such as that no database of countries is loaded; null: nothing. */
  warning: string | null;
}
