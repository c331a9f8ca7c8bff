import { leaveReason, livingChoice, type GroupChoice, type GroupRule, type GroupView } from './group-rule.js';

/** The first living member in order; a person's choice while it is alive. Nothing alive: the first. */
export class FallbackRule implements GroupRule {
  choose(view: GroupView): GroupChoice {
    const { members, health } = view;
    const member = livingChoice(view) ?? members.find((tag) => health(tag).alive) ?? members[0] ?? null;
    const reason = leaveReason(view, member);
    // One that is left while it lives was a stand-in.
    return { member, reason: reason === 'faster' ? 'recovered' : reason };
  }
}
