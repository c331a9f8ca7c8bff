import type { ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { mapKernelConfig } from './kernel-config.mapper.js';
import type { ConfigGroup, ConfigNode, KernelConfigRows } from './kernel-config.mapper.js';

const ss = (name: string): ProxyNode => ({
  type: 'ss',
  name,
  server: '192.0.2.1',
  port: 1,
  cipher: 'aes-128-gcm',
  password: 'p',
});
const node = (id: number, unsupportedReason: string | null = null): ConfigNode => ({
  id,
  name: `node ${id}`,
  country: null,
  node: ss(`node ${id}`),
  subscriptionIds: [],
  tags: [],
  alive: null,
  unsupportedReason,
});
const group = (more: Partial<ConfigGroup> = {}): ConfigGroup => ({
  id: 1,
  name: 'PROXY',
  type: 'select',
  filter: {},
  exclude: null,
  includeCountries: false,
  automatic: false,
  emptyFallback: 'REJECT',
  country: null,
  testUrl: null,
  expectedStatus: null,
  intervalSec: null,
  lazy: true,
  toleranceMs: null,
  strategy: null,
  members: ['DIRECT'],
  selectedTag: null,
  selectedName: null,
  ...more,
});
const rows = (more: Partial<KernelConfigRows> = {}): KernelConfigRows => ({
  nodes: [node(1), node(2)],
  groups: [group()],
  rules: [],
  defaultPolicy: 'PROXY',
  listeners: [],
  ...more,
});

describe('mapKernelConfig', () => {
  it('names nodes by id and puts them before the other members of a group', () => {
    const { config } = mapKernelConfig(rows());
    expect(config.outbounds.map(({ tag }) => tag)).toEqual(['n1', 'n2']);
    expect(config.groups).toEqual([{ name: 'PROXY', type: 'select', members: ['n1', 'n2', 'DIRECT'] }]);
    expect(config.defaultPolicy).toBe('PROXY');
  });

  it('keeps a selection that still holds', () => {
    const mapped = mapKernelConfig(rows({ groups: [group({ selectedTag: 'n2', selectedName: 'node 2' })] }));
    expect(mapped.config.groups[0]!.selected).toBe('n2');
    expect(mapped.lostSelections).toEqual([]);
  });

  it('falls back inside the group when the selected node is gone, and reports both', () => {
    const mapped = mapKernelConfig(rows({ groups: [group({ selectedTag: 'n9', selectedName: 'node 9' })] }));
    expect(mapped.config.groups[0]).not.toHaveProperty('selected');
    expect(mapped.lostSelections).toEqual([
      { groupId: 1, group: 'PROXY', lostTag: 'n9', lostName: 'node 9', to: 'n1', toName: 'node 1' },
    ]);
  });

  it('leaves out nodes that the kernel cannot dial, with the reason', () => {
    const mapped = mapKernelConfig(
      rows({ nodes: [node(1, 'needs QUIC'), node(2)], groups: [group({ selectedTag: 'n1', selectedName: 'x' })] }),
    );
    expect(mapped.config.outbounds.map(({ tag }) => tag)).toEqual(['n2']);
    expect(mapped.leftOut).toEqual([{ node_id: 1, name: 'node 1', reason: 'needs QUIC' }]);
    expect(mapped.lostSelections[0]).toMatchObject({ lostTag: 'n1', to: 'n2' });
  });

  it('lets the default policy fall back to PROXY, and without PROXY to REJECT', () => {
    expect(mapKernelConfig(rows({ defaultPolicy: 'n9' }))).toMatchObject({
      lostDefaultPolicy: 'n9',
      config: { defaultPolicy: 'PROXY' },
    });
    expect(mapKernelConfig(rows({ defaultPolicy: 'n9', groups: [] })).config.defaultPolicy).toBe('REJECT');
    expect(mapKernelConfig(rows({ defaultPolicy: 'n2' }))).toMatchObject({
      lostDefaultPolicy: null,
      config: { defaultPolicy: 'n2' },
    });
  });

  it('keeps a chosen group that is only empty', () => {
    const groups = [
      group({ members: ['US'], selectedTag: 'US', selectedName: 'US' }),
      group({ id: 2, name: 'US', members: [], filter: { countries: ['US'] } }),
    ];
    const { config, lostSelections } = mapKernelConfig(rows({ groups }));
    expect([config.groups[0]!.selected, lostSelections]).toEqual([undefined, []]);
    const [node1] = rows().nodes;
    const withNode = mapKernelConfig(rows({ groups, nodes: [{ ...node1!, country: 'US' }] }));
    expect(withNode.config.groups[0]!.selected).toBe('US');
  });

  it('gives each type of group the fields that it uses', () => {
    const more = { testUrl: 'http://t.example/', toleranceMs: 5, strategy: 'round-robin' as const, selectedTag: 'n1' };
    const types = ['select', 'url-test', 'fallback', 'load-balance'] as const;
    const groups = types.map((type, id) => group({ id, name: type, type, ...more }));
    const mapped = mapKernelConfig(rows({ groups })).config.groups.map(({ members: _members, ...rest }) => rest);
    expect(mapped).toEqual([
      { name: 'select', type: 'select', selected: 'n1' },
      { name: 'url-test', type: 'url-test', selected: 'n1', testUrl: 'http://t.example/', toleranceMs: 5 },
      { name: 'fallback', type: 'fallback', selected: 'n1', testUrl: 'http://t.example/' },
      { name: 'load-balance', type: 'load-balance', testUrl: 'http://t.example/', strategy: 'round-robin' },
    ]);
  });

  it('dials a chained node through the one it names, and leaves out what has nothing to dial through', () => {
    const chained = (id: number, dialerProxy: string): ConfigNode => ({
      ...node(id),
      node: { ...ss('x'), dialerProxy },
    });
    const nodes = [node(1), chained(2, 'node 1'), chained(3, 'nobody'), chained(4, 'PROXY')];
    const { config, leftOut } = mapKernelConfig(
      rows({ nodes, groups: [group({ filter: null, members: ['n1', 'n3'] })] }),
    );
    expect(config.outbounds.map(({ tag, dialer }) => [tag, dialer])).toEqual([
      ['n1', undefined],
      ['n2', 'n1'],
      ['n4', 'PROXY'],
    ]);
    expect(config.groups[0]!.members).toEqual(['n1']);
    expect(leftOut).toMatchObject([{ node_id: 3, reason: expect.stringContaining('nobody') }]);
  });

  it('drops members that do not exist and the group itself, even if none is left', () => {
    const { config, lostSelections } = mapKernelConfig(
      rows({ groups: [group({ filter: null, members: ['PROXY', 'NOPE', 'n7'], selectedTag: 'n7' })] }),
    );
    expect(config.groups[0]!.members).toEqual([]);
    expect(lostSelections[0]).toMatchObject({ to: null, toName: null });
  });
});
