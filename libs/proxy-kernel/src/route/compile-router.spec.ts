import { describe, expect, it } from 'vitest';
import { createPolicyTable } from '../group/index.js';
import type { RuleConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { DialError } from '../interfaces/outbound.js';
import type { Resolver } from '../interfaces/route.js';
import { compileRuleSets } from './rule-set/rule-sets.js';
import { type RouterOptions, compileRouter } from './compile-router.js';
import { parseRuleLine } from './rule-line.js';

const nodes = new Map([
  ['n1', { udp: true }],
  ['n2', { udp: false }],
]);
const noDns: Resolver = {
  resolve: () => Promise.reject(new DialError('dns', 'dns_error', 'no such name')),
};
const rules = (...lines: string[]): RuleConfig[] =>
  lines.map((line, i) => ({ id: i + 100, source: 'manual', ...parseRuleLine(line) }));
const flow = (part: Partial<ConnectionMetadata>): ConnectionMetadata => ({
  network: 'tcp',
  type: 'Socks5',
  sourceIp: '127.0.0.1',
  sourcePort: 1,
  inboundName: 'in',
  inboundUser: null,
  host: null,
  destinationIp: null,
  destinationPort: 443,
  ...part,
});
const router = (list: RuleConfig[], options: Partial<RouterOptions> = {}) =>
  compileRouter({
    rules: list,
    mode: 'rule',
    defaultPolicy: 'PROXY',
    policies: createPolicyTable(nodes, [
      { name: 'PROXY', type: 'select', members: ['n1', 'n2'] },
      { name: 'PASSING', type: 'select', members: ['PASS'] },
    ]),
    resolver: noDns,
    country: () => null,
    ...options,
  });

describe('router', () => {
  it('names the rule, its target and the way down to the outbound', () => {
    const decision = router(rules('DOMAIN-SUFFIX,example.com,PROXY')).decide(flow({ host: 'www.example.com' }));
    expect(decision).toEqual({
      rule: { id: 100, index: 0, source: 'manual', type: 'DOMAIN-SUFFIX', payload: 'example.com', target: 'PROXY' },
      target: 'PROXY',
      chain: ['PROXY', 'n1'],
      outbound: 'n1',
      resolvedIps: [],
    });
  });

  it('sends flows without a matching rule to the default policy', () => {
    const decision = router(rules('DOMAIN,a.com,DIRECT')).decide(flow({ host: 'b.com' }));
    expect(decision).toMatchObject({ rule: null, target: 'PROXY', outbound: 'n1' });
  });

  it('ignores rules in global and direct mode', async () => {
    const list = rules('MATCH,REJECT');
    expect(router(list, { mode: 'global' }).decide(flow({ host: 'a.com' }))).toMatchObject({
      rule: null,
      outbound: 'n1',
    });
    expect(router(list, { mode: 'direct' }).decide(flow({ host: 'a.com' }))).toMatchObject({
      rule: null,
      chain: ['DIRECT'],
    });
    expect(await router(list, { mode: 'direct' }).explain(flow({}))).toMatchObject({ trace: [], evaluated: 0 });
  });

  it('rejects after the last rule instead of passing on', () => {
    expect(router([], { defaultPolicy: 'PASSING' }).decide(flow({}))).toMatchObject({
      chain: ['PASSING', 'PASS', 'REJECT'],
      outbound: 'REJECT',
    });
  });

  it('treats a host in capitals or with a trailing dot as the same host', () => {
    const one = router(rules('DOMAIN,example.com,REJECT'));
    expect(one.decide(flow({ host: 'EXAMPLE.com.' }))).toMatchObject({ outbound: 'REJECT' });
  });

  it('follows a selection made after it was compiled', () => {
    const policies = createPolicyTable(nodes, [{ name: 'G', type: 'select', members: ['n1', 'PASS', 'n2'] }]);
    const one = compileRouter({
      rules: rules('MATCH,G', 'MATCH,REJECT'),
      mode: 'rule',
      defaultPolicy: 'G',
      policies,
      resolver: noDns,
      country: () => null,
    });
    expect(one.decide(flow({}))).toMatchObject({ outbound: 'n1' });
    policies.select('G', 'PASS');
    expect(one.decide(flow({}))).toMatchObject({ outbound: 'REJECT' });
    policies.select('G', 'n2');
    expect(one.decide(flow({}))).toMatchObject({ outbound: 'n2' });
    expect(one.decide(flow({ network: 'udp' }))).toMatchObject({ outbound: 'REJECT' });
  });

  it('shows addresses to conditions from the first one on that asks, as mihomo does', async () => {
    const resolver: Resolver = { resolve: () => Promise.resolve(['10.0.0.1']) };
    const ruleSets = compileRuleSets([
      { name: 'mixed', behavior: 'classical', entries: ['IP-CIDR,10.0.0.0/8,no-resolve', 'IP-CIDR,192.0.2.0/24'] },
    ]);
    const decide = async (...lines: string[]) =>
      (await router(rules(...lines), { resolver, ruleSets }).decide(flow({ host: 'a.com' }))).rule?.index ?? null;
    const late = 'IP-CIDR,10.0.0.0/8,REJECT,no-resolve';
    expect(await decide('AND,((IP-CIDR,192.0.2.0/24),(DOMAIN,b.com)),DIRECT', late)).toBe(1);
    expect(await decide('AND,((DOMAIN,b.com),(IP-CIDR,192.0.2.0/24)),DIRECT', late)).toBe(null);
    expect(await decide('OR,((IP-CIDR,10.0.0.0/8,no-resolve),(IP-CIDR,192.0.2.0/24)),DIRECT', late)).toBe(1);
    expect(await decide('OR,((IP-CIDR,192.0.2.0/24),(IP-CIDR,10.0.0.0/8,no-resolve)),DIRECT', late)).toBe(0);
    expect(await decide('RULE-SET,mixed,DIRECT', late)).toBe(1);
    expect(await decide('IP-CIDR,192.0.2.0/24,DIRECT', 'RULE-SET,mixed,DIRECT', late)).toBe(1);
  });

  it('sees the addresses of hosts from the first rule on', () => {
    const one = router(rules('IP-CIDR,10.0.0.0/8,REJECT,no-resolve', 'MATCH,DIRECT'), {
      known: (host) => (host === 'pinned.com' ? ['2001:db8::1', '10.0.0.1'] : null),
    });
    expect(one.decide(flow({ host: 'pinned.com' }))).toMatchObject({ outbound: 'REJECT' });
    expect(one.decide(flow({ host: 'other.com' }))).toMatchObject({ outbound: 'DIRECT' });
  });

  it('resolves once, for the first rule that needs it, and later no-resolve rules see the address', async () => {
    const asked: string[] = [];
    const resolver: Resolver = {
      resolve: (host) => {
        asked.push(host);
        return Promise.resolve(['2001:db8::1', '10.0.0.1']);
      },
    };
    const list = rules(
      'IP-CIDR,10.0.0.0/8,REJECT,no-resolve',
      'IP-CIDR,1.0.0.0/8,REJECT',
      'IP-CIDR,10.0.0.0/8,n2,no-resolve',
    );
    const decision = await router(list, { resolver }).decide(flow({ host: 'a.com' }));
    expect(decision).toMatchObject({ rule: { index: 2 }, resolvedIps: ['2001:db8::1', '10.0.0.1'] });
    expect(asked).toEqual(['a.com']);
  });

  it('passes the abort signal to the resolver and does not change the flow', async () => {
    const controller = new AbortController();
    let seen: AbortSignal | undefined;
    const resolver: Resolver = {
      resolve: (_, signal) => {
        seen = signal;
        return Promise.resolve(['10.0.0.1']);
      },
    };
    const one = Object.freeze(flow({ host: 'a.com' }));
    await router(rules('IP-CIDR,10.0.0.0/8,n2'), { resolver }).decide(one, controller.signal);
    expect(seen).toBe(controller.signal);
    expect(one.destinationIp).toBeNull();
  });

  it('explains skipped targets, misses with reasons, and the match', async () => {
    const list = rules(
      'MATCH,n9',
      'MATCH,PASSING',
      'MATCH,n2',
      'IP-CIDR,10.0.0.0/8,n1,no-resolve',
      'IP-CIDR,10.0.0.0/8,n1',
      'DOMAIN,b.com,n1',
      'NETWORK,udp,n1',
      'MATCH,n1',
    );
    const traced = await router(list).explain(flow({ host: 'a.com', network: 'udp' }));
    expect(traced.trace.map((step) => [step.index, step.result, step.reason])).toEqual([
      [0, 'skipped', 'target n9 does not exist'],
      [1, 'skipped', 'target passes'],
      [2, 'skipped', 'target lacks UDP'],
      [3, 'miss', 'no-resolve'],
      [4, 'miss', 'DNS failed: no such name'],
      [5, 'miss', undefined],
      [6, 'match', undefined],
    ]);
    expect(traced).toMatchObject({ evaluated: 7, rule: { index: 6 } });
  });

  it('cuts a long trace but keeps the rule that matched', async () => {
    const list = rules(
      ...Array.from({ length: 5000 }, (_, i) => `DOMAIN,h${i}.com,DIRECT`),
      'MATCH,REJECT',
      'MATCH,DIRECT',
    );
    const traced = await router(list).explain(flow({ host: 'a.com' }), 3);
    expect(traced.trace.map((step) => step.index)).toEqual([0, 1, 2, 5000]);
    expect(traced.evaluated).toBe(5001);
    const none = await router(list.slice(0, 50)).explain(flow({ host: 'a.com' }), 3);
    expect(none.trace.map((step) => step.index)).toEqual([0, 1, 2]);
    expect(none).toMatchObject({ evaluated: 50, rule: null });
    const first = await router(list).explain(flow({ host: 'h1.com' }), 0);
    expect(first.trace.map((step) => step.index)).toEqual([1]);
  });

  it('names the element that cannot be compiled', () => {
    const bad = (list: RuleConfig[], defaultPolicy = 'PROXY') => {
      try {
        router(list, { defaultPolicy });
      } catch (error) {
        if (error instanceof KernelConfigError) return error.path;
        throw error;
      }
      return null;
    };
    const good = rules('MATCH,DIRECT');
    expect(bad([...good, { id: 1, source: 'manual', type: 'IP-CIDR', payload: 'x', target: 'DIRECT' }])).toBe(
      'rules[1].payload',
    );
    expect(bad([{ id: 1, source: 'manual', type: 'MATCH', payload: '', target: '' }])).toBe('rules[0].target');
    expect(bad([{ id: 1, source: 'manual', type: 'NOPE' as 'MATCH', payload: '', target: 'DIRECT' }])).toBe(
      'rules[0].type',
    );
    expect(bad(good, 'n9')).toBe('defaultPolicy');
    expect(bad(good)).toBeNull();
  });
});
