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

/** Uses the user's choice, dead or alive; without one the first member. */
class SelectRule implements GroupRule {
  choose(view: GroupView): GroupChoice {
    const { chosen, members, now } = view;
    const member = chosen !== null && members.includes(chosen) ? chosen : (members[0] ?? null);
    const nowRemains = now !== null && members.includes(now);
    return { member, reason: nowRemains ? 'manual' : leaveReason(view, member) };
  }
}

/** Uses the user's choice while it is alive, otherwise the first living member; the first if none is alive. */
class FallbackRule implements GroupRule {
  choose(view: GroupView): GroupChoice {
    const { members, health } = view;
    const member = livingChoice(view) ?? members.find((tag) => health(tag).alive) ?? members[0] ?? null;
    const reason = leaveReason(view, member);
    // A living member that is left was only a replacement.
    return { member, reason: reason === 'faster' ? 'recovered' : reason };
  }
}
