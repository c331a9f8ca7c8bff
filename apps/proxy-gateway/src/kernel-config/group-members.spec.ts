import { describe, expect, it } from 'vitest';
import { resolveMembers } from './group-members.js';
import type { GroupShape, TaggedNode } from './group-members.js';

const node = (tag: string, more: Partial<TaggedNode> = {}): TaggedNode => ({
  tag,
  name: tag,
  originalName: tag,
  country: null,
  type: 'ss',
  subscriptionIds: [],
  tags: [],
  ...more,
});
const group = (name: string, more: Partial<GroupShape> = {}): GroupShape => ({
  name,
  members: [],
  filter: null,
  exclude: null,
  includeCountries: false,
  automatic: false,
  emptyFallback: 'REJECT',
  ...more,
});
const nodes = [
  node('n1', { name: 'Tokyo 1', country: 'JP', type: 'ss', subscriptionIds: [1], tags: ['fast'] }),
  node('n2', { name: 'Paris', country: 'FR', type: 'trojan', subscriptionIds: [1, 2] }),
  node('n3', { name: '东京 2x', country: 'JP', type: 'trojan', subscriptionIds: [2], tags: ['dear', 'slow'] }),
  node('n4', { name: 'somewhere' }),
];
const members = (groups: GroupShape[], name = groups[0]!.name): string[] =>
  resolveMembers(groups, nodes).get(name)!.members;

describe('resolveMembers', () => {
  it.each([
    [{}, ['n1', 'n2', 'n3', 'n4']],
    [{ countries: ['JP'] }, ['n1', 'n3']],
    [{ countries: ['ZZ'] }, ['n4']],
    [{ types: ['trojan'] }, ['n2', 'n3']],
    [{ subscription_ids: [2] }, ['n2', 'n3']],
    [{ tags: ['fast', 'slow'] }, ['n1', 'n3']],
    [{ name: 'tokyo|东京' }, ['n1', 'n3']],
    [{ name: 'tokyo|东京', types: ['ss'] }, ['n1']],
    [{ countries: [] }, []],
  ])('takes in what fulfils every part of %j', (filter, expected) => {
    expect(members([group('G', { filter })])).toEqual(expected);
  });

  it('leaves out what is excluded', () => {
    expect(members([group('G', { filter: {}, exclude: { name: '2x' } })])).toEqual(['n1', 'n2', 'n4']);
  });

  it('keeps a list as it is', () => {
    expect(members([group('G', { members: ['DIRECT', 'n2', 'n9', 'G', 'n1', 'n2'] })])).toEqual(['DIRECT', 'n2', 'n1']);
  });

  it('orders listed members, countries, nodes and built-ins if the group includes nodes', () => {
    const all = [
      group('PROXY', { members: ['DIRECT', 'AUTO', 'n4', 'REJECT'], filter: {}, includeCountries: true }),
      group('AUTO', { filter: {} }),
      group('JP', { filter: { countries: ['JP'] }, automatic: true }),
    ];
    expect(members(all)).toEqual(['AUTO', 'n4', 'JP', 'n1', 'n2', 'n3', 'DIRECT', 'REJECT']);
  });

  it('makes an empty group no member of others, but keeps it as a choice', () => {
    const groups = [
      group('G', { members: ['EMPTY', 'OUTER', 'DIRECT'] }),
      group('EMPTY', { filter: { countries: ['US'] } }),
      group('OUTER', { members: ['EMPTY'] }),
    ];
    const resolved = resolveMembers(groups, nodes).get('G')!;
    expect(resolved.members).toEqual(['DIRECT']);
    expect([...resolved.candidates]).toEqual(['EMPTY', 'OUTER', 'DIRECT']);
  });

  it('lets an empty group use its fallback instead of rejecting', () => {
    const groups = [
      group('G', { members: ['E'] }),
      group('E', { filter: { types: ['ssh'] }, emptyFallback: 'DIRECT' }),
    ];
    expect([members(groups, 'E'), members(groups)]).toEqual([['DIRECT'], ['E']]);
  });

  it('terminates for groups that name each other', () => {
    expect(members([group('A', { members: ['B'] }), group('B', { members: ['A'] })])).toEqual([]);
  });

  it('is fast with ten thousand nodes', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => node(`n${i}`, { name: `node ${i} 东京`, country: 'JP' }));
    const groups = Array.from({ length: 20 }, (_, i) =>
      group(`g${i}`, { filter: { name: `^node \\d*${i}.*(东京|osaka)` } }),
    );
    const started = performance.now();
    expect(resolveMembers(groups, many).get('g1')!.members.length).toBeGreaterThan(1_000);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
