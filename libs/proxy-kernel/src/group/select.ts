import { leaveReason, type GroupChoice, type GroupRule, type GroupView } from './group-rule.js';

/** A person's choice, dead or alive; the first member without one. */
export class SelectRule implements GroupRule {
  choose(view: GroupView): GroupChoice {
    const { chosen, members, now } = view;
    const member = chosen !== null && members.includes(chosen) ? chosen : (members[0] ?? null);
    const told = now !== null && members.includes(now);
    return { member, reason: told ? 'manual' : leaveReason(view, member) };
  }
}
