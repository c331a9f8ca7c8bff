import type { OutboundGroupView } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { exitPath, nodesInUse, groupChoices } from './exit-path.js';

const group = (
  name: string,
  type: OutboundGroupView['type'],
  now: [name: string, proxy: string] | null,
  fixed = false,
): OutboundGroupView =>
  ({
    name,
    type,
    now: now?.[0] ?? null,
    now_proxy: now?.[1] ?? null,
    fixed,
    empty_fallback: 'REJECT',
  }) as OutboundGroupView;

const PROXY = group('PROXY', 'select', ['AUTO', 'AUTO']);
const AUTO = group('AUTO', 'url-test', ['Tokyo', 'n7']);

describe('where new connections go', () => {
  it.each([
    ['through groups to a node', 'PROXY', [PROXY, AUTO], ['PROXY', 'AUTO', 'Tokyo'], 7],
    ['to a node that is the default policy', 'Tokyo', [PROXY, AUTO], ['Tokyo'], null],
    ['to a built-in', 'DIRECT', [PROXY, AUTO], ['DIRECT'], null],
    ['to a group without members', 'EMPTY', [group('EMPTY', 'select', null)], ['EMPTY', 'REJECT'], null],
    ['to a group that spreads them', 'B', [group('B', 'load-balance', null)], ['B'], null],
  ])('%s', (_what, policy, groups, names, nodeId) => {
    expect(exitPath({ mode: 'rule', default_policy: policy, groups })).toEqual({ mode: 'rule', names, nodeId });
  });

  it('is direct where the mode says so', () => {
    expect(exitPath({ mode: 'direct', default_policy: 'PROXY', groups: [PROXY, AUTO] }).names).toEqual(['DIRECT']);
  });

  it('ends although groups name each other', () => {
    const groups = [group('A', 'select', ['B', 'B']), group('B', 'select', ['A', 'A'])];
    expect(exitPath({ mode: 'rule', default_policy: 'A', groups }).names.length).toBeLessThan(5);
  });
});

it('nodes are in use by groups that new connections go through and by those that people choose in', () => {
  const idle = group('US', 'url-test', ['Los Angeles', 'n8']);
  const groups = [PROXY, AUTO, group('JP', 'select', ['Tokyo', 'n7']), idle];
  expect([...nodesInUse({ mode: 'rule', default_policy: 'PROXY', groups })]).toEqual([[7, ['AUTO', 'JP']]]);
});

describe('groups that can be made to use a node', () => {
  const mine = group('MINE', 'select', ['Tokyo', 'n7']);
  const choices = (groups: OutboundGroupView[]) =>
    groupChoices({ default_policy: 'PROXY', groups }, 'n7').map(({ group: name }) => name);

  it('are those that people choose in, that of the default policy first', () => {
    expect(choices([mine, AUTO, PROXY])).toEqual(['PROXY', 'MINE']);
  });

  it('are the others where there is none of them, but none that spreads connections', () => {
    expect(choices([AUTO, group('B', 'load-balance', null)])).toEqual(['AUTO']);
  });

  it('say whether they use it already', () => {
    const [first, second] = groupChoices({ default_policy: 'PROXY', groups: [mine, PROXY] }, 'n7');
    expect([first, second]).toMatchObject([
      { group: 'PROXY', isDefault: true, isUsing: false },
      { group: 'MINE', isDefault: false, isUsing: true },
    ]);
    // What a group chose by itself is not the reader's choice.
    expect(groupChoices({ default_policy: 'PROXY', groups: [AUTO] }, 'n7')[0]).toMatchObject({ isUsing: false });
  });
});
