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
  const source = { load: () => Promise.resolve(rows) };
  const targetsWith = (available: boolean): ProbeTargets =>
    new ProbeTargets(source as never, {} as never, {} as never, { available } as never);

  it('are measured by another program if that is the kernel of this process', async () => {
    const { targets, skipped } = await targetsWith(true).all();
    expect(targets.map(({ name, byKernel }) => [name, byKernel])).toEqual([
      ['ours', undefined],
      ['only mihomo', true],
    ]);
    expect(skipped).toEqual([]);
  });

  it('are otherwise those that this process can dial', async () => {
    const { targets, skipped } = await targetsWith(false).all();
    expect(targets.map(({ name }) => name)).toEqual(['ours']);
    expect(skipped).toEqual([{ id: 2, name: 'only mihomo', reason: expect.stringContaining('hysteria2') }]);
  });
});
