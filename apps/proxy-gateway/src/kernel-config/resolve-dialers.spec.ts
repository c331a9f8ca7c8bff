import { describe, expect, it } from 'vitest';
import { resolveDialers } from './resolve-dialers.js';
import type { DialingNode } from './resolve-dialers.js';

const node = (id: number, name: string, dialerProxy?: string, subscriptionIds: number[] = []): DialingNode => ({
  id,
  name,
  node: { name, ...(dialerProxy === undefined ? {} : { dialerProxy }) },
  subscriptionIds,
});
const resolve = (nodes: DialingNode[], groups: Record<string, string[]> = {}) =>
  Object.fromEntries(resolveDialers(nodes, new Map(Object.entries(groups))));

describe('resolveDialers', () => {
  it('ignores nodes that dial directly', () => {
    expect(resolve([node(1, 'a'), node(2, 'b', '')])).toEqual({});
  });

  it('prefers the node of the same subscription, then one added by hand, then a group', () => {
    const hop = (id: number, subscriptionIds: number[]) => node(id, 'hop', undefined, subscriptionIds);
    const groups = { hop: [] };
    expect(resolve([node(1, 'a', 'hop', [7]), hop(2, []), hop(3, [8]), hop(4, [7])], groups)).toEqual({
      1: { dialer: 'n4' },
    });
    expect(resolve([node(1, 'a', 'hop', [7]), hop(3, [8]), hop(2, [])], groups)).toEqual({ 1: { dialer: 'n2' } });
    expect(resolve([node(1, 'a', 'hop', [7]), hop(3, [8])], groups)).toEqual({ 1: { dialer: 'hop' } });
    expect(resolve([node(1, 'a', 'hop'), hop(2, [])])).toEqual({ 1: { dialer: 'n2' } });
  });

  it('finds a node by its original name after a user renamed it', () => {
    const renamed = { ...node(2, 'theirs'), name: 'mine' };
    expect(resolve([node(1, 'a', 'theirs'), node(3, 'b', 'mine'), renamed])).toEqual({
      1: { dialer: 'n2' },
      3: { dialer: 'n2' },
    });
  });

  it('treats DIRECT as no dialer', () => {
    expect(resolve([node(1, 'a', 'DIRECT')])).toEqual({ 1: { dialer: null } });
  });

  it('gives a reason for a missing dialer, also to nodes that dial through that node', () => {
    const { 1: a, 2: b, 3: c } = resolve([node(1, 'a', 'gone'), node(2, 'b', 'a'), node(3, 'c', 'b')]);
    expect(a).toEqual({ reason: expect.stringContaining('"gone"') });
    for (const resolved of [b, c]) expect(resolved).toEqual({ reason: expect.stringContaining('left out itself') });
  });

  it('leaves out nodes that would dial through themselves, by nodes or by a group', () => {
    const cycle = resolve([
      node(1, 'a', 'b'),
      node(2, 'b', 'a'),
      node(3, 'self', 'self'),
      node(4, 'ok', 'free'),
      node(5, 'free'),
    ]);
    for (const id of [1, 2, 3]) expect(cycle[id], `${id}`).toHaveProperty('reason');
    expect(cycle[4]).toEqual({ dialer: 'n5' });
    const groups = { OUTER: ['INNER', 'DIRECT'], INNER: ['n1', 'n5'], OTHER: ['n5'] };
    expect(resolve([node(1, 'a', 'OUTER'), node(2, 'b', 'OTHER'), node(5, 'free')], groups)).toEqual({
      1: { reason: expect.stringContaining('itself') },
      2: { dialer: 'OTHER' },
    });
  });
});
