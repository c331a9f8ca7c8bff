import type { ConnectionMetadata, GroupState, KernelConfig } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { MihomoRoutes } from './mihomo-routes.js';

const MEMBERS = ['n1', 'n2'];
const node = { type: 'http', name: 'a label', server: '127.0.0.1', port: 1 } as const;

const config: KernelConfig = {
  mode: 'rule',
  listeners: [],
  outbounds: MEMBERS.map((tag) => ({ tag, node })),
  groups: [
    { name: 'PROXY', type: 'select', members: MEMBERS },
    { name: 'SPREAD', type: 'load-balance', members: MEMBERS },
  ],
  rules: [
    { id: 1, source: 'manual', type: 'DOMAIN', payload: 'spread.example', target: 'SPREAD' },
    { id: 2, source: 'manual', type: 'GEOIP', payload: 'ZZ', target: 'PROXY' },
  ],
  defaultPolicy: 'DIRECT',
};

const flow: ConnectionMetadata = {
  network: 'tcp',
  type: 'Socks5',
  sourceIp: '127.0.0.1',
  sourcePort: 1,
  inboundName: 'mixed',
  inboundUser: null,
  host: null,
  destinationIp: '192.0.2.1',
  destinationPort: 443,
};

const groupsWith = (now: string): GroupState[] => [
  { name: 'PROXY', type: 'select', members: MEMBERS, now, fixed: true },
  { name: 'SPREAD', type: 'load-balance', members: MEMBERS, now: null, fixed: false },
];

describe('routes of mihomo', () => {
  const resolver = { resolve: () => Promise.reject(new Error('no name is asked for')) };
  const country = (address: string): string | null => (address === '192.0.2.1' ? 'ZZ' : null);
  const routes = new MihomoRoutes(config, { resolver, country } as never);

  it('follow the choices that its groups have at that moment', async () => {
    for (const now of ['n2', 'n1']) {
      const decision = await routes.explain(flow, groupsWith(now));
      expect(decision).toMatchObject({ rule: { id: 2 }, chain: ['PROXY', now], outbound: now });
    }
  });

  it('leave the choice to a group that spreads flows', async () => {
    const decision = await routes.explain({ ...flow, host: 'spread.example' }, groupsWith('n1'));
    expect(decision).toMatchObject({ rule: { id: 1 }, outbound: expect.stringMatching(/^n[12]$/) });
  });

  it('say where flows without a rule go', async () => {
    expect(await routes.explain({ ...flow, destinationIp: '198.51.100.1' }, [])).toMatchObject({ outbound: 'DIRECT' });
  });
});
