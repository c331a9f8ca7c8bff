import type { GroupMemberView } from '@gatehouse/contracts';

export const MEMBER_SORTS = ['default', 'delay', 'name'] as const;
export type MemberSort = (typeof MEMBER_SORTS)[number];

/** What of a group's members is shown, and in which order. */
export interface MemberSelection {
  search: string;
  sort: MemberSort;
  hideDead: boolean;
}

/** The members to show. The one in use comes first whatever the search says, so that it is always in view. */
export function selectMembers(
  members: readonly GroupMemberView[],
  { search, sort, hideDead }: MemberSelection,
  current: string | null,
): GroupMemberView[] {
  const words = search.toLowerCase().split(/\s+/);
  const matches = (member: GroupMemberView): boolean => {
    const text = `${member.name} ${member.type} ${member.country ?? ''} ${member.proxy}`.toLowerCase();
    return words.every((word) => text.includes(word)) && !(hideDead && member.alive === false);
  };
  const shown = members.filter((member) => member.proxy !== current && matches(member));
  if (sort === 'name') shown.sort((one, other) => one.name.localeCompare(other.name));
  if (sort === 'delay') shown.sort((one, other) => delayOrder(one) - delayOrder(other));
  return [...members.filter(({ proxy }) => proxy === current), ...shown];
}

/** The fastest first, then those that were not tested, then those that do not answer. */
function delayOrder({ alive, delay_ms: delay }: GroupMemberView): number {
  if (alive === false) return Number.MAX_SAFE_INTEGER;
  return delay ?? Number.MAX_SAFE_INTEGER - 1;
}
