import type { GroupConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import type { SwitchReason } from '../interfaces/kernel.js';

/** What is known of one member: of the outbound that it stands for at the moment. */
export interface MemberHealth {
  alive: boolean;
  /** Null: never measured, or without an answer. */
  delayMs: number | null;
}

/** Everything that a group's rule decides on. */
export interface GroupView {
  readonly members: readonly string[];
  /** Null before the first choice. */
  readonly now: string | null;
  /** A person's choice, also while it is no longer a member; null for none. */
  readonly chosen: string | null;
  /** Milliseconds since the epoch; -Infinity while the group never switched. */
  readonly switchedAt: number;
  readonly at: number;
  readonly health: (member: string) => MemberHealth;
}

export interface GroupChoice {
  /** Null only for a group without members. */
  member: string | null;
  /** Why another than `now`; without meaning when it is the same. */
  reason: SwitchReason;
  /** When the same measurements would be judged otherwise. Absent: never. */
  recheckAt?: number;
}

/** How a type of group decides. One instance a group; it outlives generations. */
export interface GroupRule {
  /** The member in use from now on. */
  choose(view: GroupView): GroupChoice;
  /**
   * Groups that spread flows: the one of `members` (never empty) that this flow takes. `take`: it does take it; otherwise
   * the same flow is asked for again.
   */
  pick?(flow: ConnectionMetadata, members: readonly string[], take: boolean): string;
}

export type GroupRuleOptions = Pick<GroupConfig, 'toleranceMs' | 'strategy'> & { now: () => number };

/** Why a group leaves `now` for `member`. */
export function leaveReason({ now, chosen, members, health }: GroupView, member: string | null): SwitchReason {
  if (now === null) return 'recovered';
  if (!members.includes(now)) return 'selected_gone';
  if (!health(now).alive) return 'dead';
  return member === chosen ? 'recovered' : 'faster';
}

/** A person's choice while it can be followed. */
export function livingChoice({ chosen, members, health }: GroupView): string | null {
  return chosen !== null && members.includes(chosen) && health(chosen).alive ? chosen : null;
}
