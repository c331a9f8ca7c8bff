import type { GroupMemberView } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { selectMembers, type MemberSelection } from './member-selection.js';

const member = (name: string, alive: boolean | null, delay: number | null, country = 'DE'): GroupMemberView => ({
  name,
  proxy: `n-${name}`,
  node_id: 1,
  type: 'ss',
  country,
  subscription_name: null,
  alive,
  delay_ms: delay,
});

const MEMBERS = [
  member('slow', true, 400),
  member('dead', false, null),
  member('new', null, null),
  member('Fast', true, 20, 'JP'),
  member('chosen', true, 900),
];
const ALL: MemberSelection = { search: '', sort: 'default', hideDead: false };

const names = (changes: Partial<MemberSelection>, current: string | null = 'n-chosen'): string[] =>
  selectMembers(MEMBERS, { ...ALL, ...changes }, current).map(({ name }) => name);

describe('the members of a group', () => {
  it('keep their order, with the one in use first', () => {
    expect(names({})).toEqual(['chosen', 'slow', 'dead', 'new', 'Fast']);
    expect(names({}, null)).toEqual(['slow', 'dead', 'new', 'Fast', 'chosen']);
  });

  it('are sorted by delay, with untested and dead ones last', () => {
    expect(names({ sort: 'delay' })).toEqual(['chosen', 'Fast', 'slow', 'new', 'dead']);
  });

  it('are sorted by name as people do', () => {
    expect(names({ sort: 'name' })).toEqual(['chosen', 'dead', 'Fast', 'new', 'slow']);
  });

  it('are searched by every word, and the one in use stays', () => {
    expect(names({ search: 'jp fast' })).toEqual(['chosen', 'Fast']);
    expect(names({ search: 'nothing' })).toEqual(['chosen']);
  });

  it('leave out dead ones on request', () => {
    expect(names({ hideDead: true })).not.toContain('dead');
  });

  it('do not change the list they come from', () => {
    names({ sort: 'name' });
    expect(MEMBERS[0]?.name).toBe('slow');
  });
});
