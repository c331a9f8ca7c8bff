import type { GroupType } from '../interfaces/config.js';
import { leaveReason, livingChoice } from './group-rule.js';
import type { GroupRule, GroupRuleOptions, GroupChoice, GroupView } from './group-rule.js';
import { LoadBalanceRule } from './load-balance.js';
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

/** A person's choice, dead or alive; the first member without one. */
class SelectRule implements GroupRule {
  choose(view: GroupView): GroupChoice {
    const { chosen, members, now } = view;
    const member = chosen !== null && members.includes(chosen) ? chosen : (members[0] ?? null);
    const told = now !== null && members.includes(now);
    return { member, reason: told ? 'manual' : leaveReason(view, member) };
  }
}

/** The first living member in order; a person's choice while it is alive. Nothing alive: the first. */
class FallbackRule implements GroupRule {
  choose(view: GroupView): GroupChoice {
    const { members, health } = view;
    const member = livingChoice(view) ?? members.find((tag) => health(tag).alive) ?? members[0] ?? null;
    const reason = leaveReason(view, member);
    // One that is left while it lives was a stand-in.
    return { member, reason: reason === 'faster' ? 'recovered' : reason };
  }
}
