import type { GroupConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import type { SwitchReason } from '../interfaces/kernel.js';

/** The health of a member, which is that of the outbound it currently leads to. */
export interface MemberHealth {
  alive: boolean;
  /** Null: never measured, or without an answer. */
  delayMs: number | null;
}

/** Everything that a group's rule decides by. */
export interface GroupView {
  readonly members: readonly string[];
  /** Null before the first choice. */
  readonly now: string | null;
  /** A user's choice, even if it is no longer a member; null for none. */
  readonly chosen: string | null;
  /** Milliseconds since the epoch; -Infinity while the group never switched. */
  readonly switchedAt: number;
  readonly at: number;
  readonly health: (member: string) => MemberHealth;
}

export interface GroupChoice {
  /** Null only for a group without members. */
  member: string | null;
  /** Why the member differs from `now`; ignored if it is the same. */
  reason: SwitchReason;
  /** When the same measurements would give another result. Absent: never. */
  recheckAt?: number;
}

/** How a type of group decides. Each group has an instance that outlives generations. */
export interface GroupRule {
  /** The member to use from now on. */
  choose(view: GroupView): GroupChoice;
  /**
   * For groups that spread flows: which of `members` (never empty) a flow uses. `take` is false for a preview: the same
   * flow will be asked about again.
   */
  pick?(flow: ConnectionMetadata, members: readonly string[], take: boolean): string;
}

export type GroupRuleOptions = Pick<GroupConfig, 'toleranceMs' | 'strategy'> & { now: () => number };

/** The reason for switching from `now` to `member`. */
export function leaveReason({ now, chosen, members, health }: GroupView, member: string | null): SwitchReason {
  if (now === null) return 'recovered';
  if (!members.includes(now)) return 'selected_gone';
  if (!health(now).alive) return 'dead';
  return member === chosen ? 'recovered' : 'faster';
}

/** A user's choice, while it is usable. */
export function livingChoice({ chosen, members, health }: GroupView): string | null {
  return chosen !== null && members.includes(chosen) && health(chosen).alive ? chosen : null;
}
