/** The compiled router against the plainest reading of the rules: one matcher after the other, in order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicyTable } from '../group/index.js';
import type { RuleConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { DialError } from '../interfaces/outbound.js';
import type { PolicyTable } from '../interfaces/route.js';
import { compileRouter } from './compile-router.js';
import { createMatcher } from './rule/create-matcher.js';

const COUNTRIES: Record<string, string> = { '1.2.3.4': 'CN', '10.1.2.3': 'DE', '2001:db8::1': 'CN', '8.8.8.8': 'US' };
const country = (ip: string) => COUNTRIES[ip] ?? null;

interface Naive {
  index: number;
  resolvedIps: string[];
  asked: number;
}

async function naive(
  rules: readonly RuleConfig[],
  flow: ConnectionMetadata,
  policies: PolicyTable,
  dns: () => string[] | null,
): Promise<Naive> {
  let seen = flow;
  let asked = 0;
  let resolvedIps: string[] = [];
  for (const [index, rule] of rules.entries()) {
    if (!policies.has(rule.target)) continue;
    const matcher = createMatcher(rule, country);
    let result = matcher.matches(seen);
    if (result === 'needs-ip' && asked === 0) {
      asked++;
      resolvedIps = dns() ?? [];
      seen = { ...seen, destinationIp: resolvedIps.find((ip) => !ip.includes(':')) ?? resolvedIps[0] ?? null };
      result = matcher.matches(seen);
    }
    if (result !== true) continue;
    if (policies.chain(rule.target).at(-1) === 'PASS') continue;
    if (flow.network === 'udp' && !policies.supportsUdp(rule.target)) continue;
    return { index, resolvedIps, asked };
  }
  return { index: -1, resolvedIps, asked };
}

const LABELS = ['a', 'b', 'ads', 'example', 'com', 'net', 'co'];
const host = fc.array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const v4 = fc.constantFrom('1.2.3.4', '10.1.2.3', '8.8.8.8', '10.1.2.4', '255.255.255.255', '0.0.0.0', '192.168.0.7');
const v6 = fc.constantFrom(
  '2001:db8::1',
  'fe80::1',
  '::1',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8:8000::1',
);
const address = fc.oneof(
  v4,
  v6,
  v4.map((ip) => `::ffff:${ip}`),
  fc.ipV4(),
  fc.ipV6(),
);
const cidr = fc.oneof(
  fc.tuple(v4, fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.tuple(v6, fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
);
const target = fc.constantFrom('DIRECT', 'REJECT', 'PASS', 'n1', 'n2', 'GONE', 'UDP', 'TCP', 'PASSES', 'EMPTY');
const condition: fc.Arbitrary<Pick<RuleConfig, 'type' | 'payload'>> = fc.oneof(
  { weight: 3, arbitrary: host.map((payload) => ({ type: 'DOMAIN' as const, payload })) },
  { weight: 4, arbitrary: host.map((payload) => ({ type: 'DOMAIN-SUFFIX' as const, payload })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('a', 'ad', 'ads', 'example', 'ple.c', 's.a', '.', 'com', 'm', 'xample.n')
      .map((payload) => ({ type: 'DOMAIN-KEYWORD' as const, payload })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('*', 'a.*', '?.com', '*ads*.c?m', '*.example.*')
      .map((payload) => ({ type: 'DOMAIN-WILDCARD' as const, payload })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('^ads', 'com$', '(a|b)\\.', 'e.+e')
      .map((payload) => ({ type: 'DOMAIN-REGEX' as const, payload })),
  },
  { weight: 6, arbitrary: cidr.map((payload) => ({ type: 'IP-CIDR' as const, payload })) },
  { weight: 1, arbitrary: cidr.map((payload) => ({ type: 'IP-CIDR6' as const, payload })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('CN', 'DE', 'us', 'LAN', 'private')
      .map((payload) => ({ type: 'GEOIP' as const, payload })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('80', '443/8000-9000', '1-65535')
      .map((payload) => ({ type: 'DST-PORT' as const, payload })),
  },
  { weight: 1, arbitrary: fc.constantFrom('tcp', 'udp').map((payload) => ({ type: 'NETWORK' as const, payload })) },
  { weight: 1, arbitrary: fc.constant({ type: 'MATCH' as const, payload: '' }) },
);
const rule: fc.Arbitrary<RuleConfig> = fc
  .record({ condition, target, noResolve: fc.boolean(), src: fc.integer({ min: 0, max: 4 }).map((n) => n === 0) })
  .map(({ condition: { type, payload }, ...rest }) => ({ id: 1, source: 'manual', type, payload, ...rest }));
const flow: fc.Arbitrary<ConnectionMetadata> = fc
  .record({
    network: fc.constantFrom('tcp' as const, 'udp' as const),
    sourceIp: address,
    host: fc.option(host, { freq: 4 }),
    destinationIp: fc.option(address, { freq: 1 }),
    destinationPort: fc.constantFrom(80, 443, 8500, 53),
  })
  .map((part) => ({ type: 'Socks5', sourcePort: 1, inboundName: 'in', inboundUser: null, ...part }));
const answer = fc.option(fc.array(address, { maxLength: 3 }), { freq: 4 });
const selection = fc.record({
  UDP: fc.constantFrom('n1', 'TCP'),
  TCP: fc.constantFrom('n2', 'DIRECT'),
  PASSES: fc.constantFrom('PASS', 'n1'),
});

describe('the compiled router', () => {
  it(
    'decides as an ordered scan does, resolves when it does, and explains the same decision',
    { timeout: 120_000 },
    async () => {
      let matched = 0;
      let asked = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(rule, { maxLength: 40 }),
          fc.array(fc.tuple(flow, answer), { minLength: 1, maxLength: 6 }),
          selection,
          async (rules, flows, selected) => {
            const policies = createPolicyTable(
              new Map([
                ['n1', { udp: true }],
                ['n2', { udp: false }],
              ]),
              [
                { name: 'UDP', type: 'select', members: ['n1', 'TCP'] },
                { name: 'TCP', type: 'select', members: ['n2', 'DIRECT'] },
                { name: 'PASSES', type: 'select', members: ['PASS', 'n1'] },
                { name: 'EMPTY', type: 'select', members: [] },
              ],
            );
            for (const [group, member] of Object.entries(selected)) policies.select(group, member);
            let dns: string[] | null = null;
            let lookups = 0;
            const resolver = {
              resolve: async () => {
                lookups++;
                if (dns === null) throw new DialError('dns', 'dns_error', 'no such name');
                return dns;
              },
            };
            const router = compileRouter({ rules, mode: 'rule', defaultPolicy: 'DIRECT', policies, resolver, country });
            for (const [one, reply] of flows) {
              dns = reply;
              lookups = 0;
              const expected = await naive(rules, one, policies, () => reply);
              const answered = router.decide(one);
              expect(answered instanceof Promise).toBe(expected.asked > 0);
              const decision = await answered;
              expect(decision.rule?.index ?? -1).toBe(expected.index);
              expect(decision.resolvedIps).toEqual(expected.resolvedIps);
              expect(lookups).toBe(expected.asked);
              const { trace, evaluated, elapsedUs, ...explained } = await router.explain(one, 1000);
              expect(explained).toEqual(decision);
              expect(elapsedUs).toBeGreaterThanOrEqual(0);
              expect(evaluated).toBe(trace.length);
              expect(trace.findIndex((step) => step.result === 'match')).toBe(expected.index);
              matched += expected.index >= 0 ? 1 : 0;
              asked += expected.asked;
            }
          },
        ),
        { numRuns: 4000 },
      );
      // The generators must reach what they are for.
      expect(matched).toBeGreaterThan(1000);
      expect(asked).toBeGreaterThan(1000);
    },
  );
});
