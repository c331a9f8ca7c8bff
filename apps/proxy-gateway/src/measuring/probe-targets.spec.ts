import type { ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import type { KernelConfigRows } from '../kernel-config/kernel-config.mapper.js';
import { ProbeTargets } from './probe-targets.js';

const server = { server: 'a.example', port: 443 };
const nodes: ProxyNode[] = [
  { type: 'http', name: 'ours', ...server },
  { type: 'hysteria2', name: 'only mihomo', ...server, options: { password: 'p' } },
];

/** The rows as for mihomo, which carries both nodes. */
const rows: KernelConfigRows = {
  nodes: nodes.map((node, index) => ({
    id: index + 1,
    name: node.name,
    country: null,
    node,
    subscriptionIds: [],
    tags: [],
    alive: null,
    unsupportedReason: null,
  })),
  groups: [],
  rules: [],
  defaultPolicy: 'DIRECT',
  listeners: [],
};

describe('nodes that can be measured', () => {
  it('leaves out nodes that only another program can dial', async () => {
    const source = { load: () => Promise.resolve(rows) };
    const { targets, skipped } = await new ProbeTargets(source as never, {} as never, {} as never).all();
    expect(targets.map(({ name }) => name)).toEqual(['ours']);
    expect(skipped).toEqual([{ id: 2, name: 'only mihomo', reason: expect.stringContaining('hysteria2') }]);
  });
});
