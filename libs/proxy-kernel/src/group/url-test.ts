import { leaveReason, livingChoice, type GroupChoice, type GroupRule, type GroupView } from './group-rule.js';

const DEFAULT_TOLERANCE_MS = 100;
/** A living member is left only for one with at most this part of its delay, whatever the tolerance is. */
const WORTHWHILE = 0.8;
/** A living member is not left for a faster one within this time after a switch. */
export const MIN_DWELL_MS = 30_000;

/**
 * Uses the living member with the lowest delay. A living member in use stays until another is clearly faster: by the
 * tolerance and by a fifth. A user's choice stays while it is alive. If none is alive, the first is used.
 */
export class UrlTestRule implements GroupRule {
  readonly #toleranceMs: number;

  constructor(toleranceMs = DEFAULT_TOLERANCE_MS) {
    this.#toleranceMs = toleranceMs;
  }

  choose(view: GroupView): GroupChoice {
    const { now, at, switchedAt } = view;
    const chosen = livingChoice(view);
    if (chosen !== null) return { member: chosen, reason: leaveReason(view, chosen) };
    const fastest = fastestLiving(view);
    const reason = leaveReason(view, fastest);
    if (reason !== 'faster' || now === null || fastest === now) return { member: fastest, reason };
    if (!this.#clearlyFaster(view, fastest, now)) return { member: now, reason };
    const settledAt = switchedAt + MIN_DWELL_MS;
    return at < settledAt ? { member: now, reason, recheckAt: settledAt } : { member: fastest, reason };
  }

  #clearlyFaster({ health }: GroupView, member: string | null, now: string): boolean {
    const delay = member === null ? null : health(member).delayMs;
    if (delay === null) return false;
    const current = health(now).delayMs ?? Infinity;
    return current - delay >= this.#toleranceMs && delay <= current * WORTHWHILE;
  }
}

/** Members without a measurement count as alive, but come after measured ones. */
function fastestLiving({ members, health }: GroupView): string | null {
  let fastest = members[0] ?? null;
  let best: number | null = null;
  for (const member of members) {
    const { alive, delayMs } = health(member);
    const delay = delayMs ?? Number.MAX_VALUE;
    if (!alive || (best !== null && delay >= best)) continue;
    fastest = member;
    best = delay;
  }
  return fastest;
}
