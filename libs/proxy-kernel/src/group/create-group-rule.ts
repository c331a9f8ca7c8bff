import type { GroupType } from '../interfaces/config.js';
import { FallbackRule } from './fallback.js';
import type { GroupRule, GroupRuleOptions } from './group-rule.js';
import { LoadBalanceRule } from './load-balance.js';
import { SelectRule } from './select.js';
import { UrlTestRule } from './url-test.js';

const RULES: Record<GroupType, (options: GroupRuleOptions) => GroupRule> = {
  select: () => new SelectRule(),
  'url-test': ({ toleranceMs }) => new UrlTestRule(toleranceMs),
  fallback: () => new FallbackRule(),
  'load-balance': ({ strategy = 'consistent-hashing', now }) => new LoadBalanceRule(strategy, now),
};

export function createGroupRule(type: GroupType, options: GroupRuleOptions): GroupRule {
  return RULES[type](options);
}
