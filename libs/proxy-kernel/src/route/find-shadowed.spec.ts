import { cidrContains, parseCidr } from '@gatehouse/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicyTable } from '../group/index.js';
import type { RuleConfig, RuleSetConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { compileRouter } from './compile-router.js';
import { type ShadowRule, findShadowed, findShadowedInSlices } from './find-shadowed.js';
import { parseRuleLine } from './rule-line.js';
import { compileRuleSets } from './rule-set/rule-sets.js';

const KNOWN_SETS: RuleSetConfig[] = [
  { name: 'ads', behavior: 'domain', entries: ['+.ads.example'] },
  { name: 'addresses', behavior: 'ipcidr', entries: ['10.0.0.0/8'] },
  { name: 'asking', behavior: 'classical', entries: ['DOMAIN,a.example', 'IP-CIDR,10.0.0.0/8', 'GEOIP,CN'] },
  { name: 'silent', behavior: 'classical', entries: ['IP-CIDR,10.0.0.0/8,no-resolve', 'SRC-IP-CIDR,10.0.0.0/8'] },
  { name: 'mixed', behavior: 'classical', entries: ['IP-CIDR,10.0.0.0/8,no-resolve', 'GEOIP,CN'] },
];
const shadows = (...lines: string[]) =>
  findShadowed(
    lines.map((line) => parseRuleLine(line)),
    { ruleSets: KNOWN_SETS },
  );

describe('shadowed rules', () => {
  it.each<[string, string]>([
    ['DOMAIN-SUFFIX,example.com,DIRECT', 'DOMAIN,www.example.com,REJECT'],
    ['DOMAIN-SUFFIX,example.com,DIRECT', 'DOMAIN-SUFFIX,a.b.example.com,REJECT'],
    ['DOMAIN,example.com,DIRECT', 'DOMAIN,Example.com,REJECT'],
    ['DOMAIN-KEYWORD,goo,DIRECT', 'DOMAIN-SUFFIX,google.com,REJECT'],
    ['DOMAIN-KEYWORD,goo,DIRECT', 'DOMAIN-KEYWORD,google,REJECT'],
    ['IP-CIDR,10.0.0.0/8,DIRECT', 'IP-CIDR,10.1.0.0/16,REJECT,no-resolve'],
    ['IP-CIDR,10.0.0.0/8,DIRECT,no-resolve', 'IP-CIDR,10.1.0.0/16,REJECT,no-resolve'],
    ['GEOIP,LAN,DIRECT', 'IP-CIDR,192.168.1.0/24,REJECT'],
    ['GEOIP,CN,DIRECT', 'GEOIP,cn,REJECT'],
    ['IP-CIDR,10.0.0.0/8,DIRECT,src', 'IP-CIDR,10.1.0.0/16,REJECT,src'],
    ['MATCH,DIRECT', 'DOMAIN,a.com,REJECT'],
    ['DST-PORT,1-1000,DIRECT', 'DST-PORT,80/443,REJECT'],
    ['DST-PORT,80/81-90,DIRECT', 'DST-PORT,80-90,REJECT'],
    ['RULE-SET,ads,REJECT', 'RULE-SET,ads,DIRECT'],
    ['RULE-SET,addresses,REJECT', 'RULE-SET,addresses,DIRECT'],
    ['RULE-SET,asking,REJECT', 'RULE-SET,asking,DIRECT'],
    ['RULE-SET,silent,REJECT', 'RULE-SET,silent,DIRECT'],
    ['RULE-SET,mixed,REJECT,no-resolve', 'RULE-SET,mixed,DIRECT,no-resolve'],
    ['GEOSITE,cn,REJECT', 'GEOSITE,cn,DIRECT'],
    ['OR,((IP-CIDR,10.0.0.0/8),(GEOIP,CN)),REJECT', 'OR,((IP-CIDR,10.0.0.0/8),(GEOIP,CN)),DIRECT'],
    ['AND,((DOMAIN,a),(NETWORK,udp)),REJECT', 'and,((DOMAIN,A), (NETWORK,UDP)),DIRECT'],
    ['NETWORK,udp,REJECT', 'NETWORK,UDP,DIRECT'],
    ['DOMAIN,a.com,SOME GROUP', 'DOMAIN,a.com,SOME GROUP'],
  ])('%s hides %s', (earlier, later) => {
    expect(shadows(earlier, later)).toEqual([null, 0]);
  });

  it.each<[string, string]>([
    ['DOMAIN,example.com,DIRECT', 'DOMAIN-SUFFIX,example.com,REJECT'],
    ['DOMAIN-SUFFIX,example.com,DIRECT', 'DOMAIN,badexample.com,REJECT'],
    ['DOMAIN-SUFFIX,google.com,DIRECT', 'DOMAIN-KEYWORD,google.com,REJECT'],
    ['IP-CIDR,10.0.0.0/8,DIRECT,no-resolve', 'IP-CIDR,10.1.0.0/16,REJECT'],
    ['IP-CIDR,10.1.0.0/16,DIRECT', 'IP-CIDR,10.0.0.0/8,REJECT'],
    ['IP-CIDR,10.0.0.0/8,DIRECT', 'IP-CIDR,10.1.0.0/16,REJECT,src'],
    ['DOMAIN,a.com,SOME GROUP', 'DOMAIN,a.com,DIRECT'],
    ['DOMAIN,a.com,PASS', 'DOMAIN,a.com,DIRECT'],
    ['DST-PORT,80,DIRECT', 'SRC-PORT,80,REJECT'],
    ['DST-PORT,80/90,DIRECT', 'DST-PORT,80-90,REJECT'],
    ['RULE-SET,ads,REJECT,no-resolve', 'RULE-SET,ads,DIRECT'],
    // The address that GEOIP gets is not seen by what stands before it, but by all of the second rule.
    ['RULE-SET,mixed,REJECT', 'RULE-SET,mixed,DIRECT'],
    ['RULE-SET,not-here,REJECT', 'RULE-SET,not-here,DIRECT'],
    [
      'OR,((IP-CIDR,10.0.0.0/8,no-resolve),(GEOIP,CN)),REJECT',
      'OR,((IP-CIDR,10.0.0.0/8,no-resolve),(GEOIP,CN)),DIRECT',
    ],
  ])('%s does not hide %s', (earlier, later) => {
    expect(shadows(earlier, later)).toEqual([null, null]);
  });

  it('takes into account a rule in between that resolves names', () => {
    const [a, b] = ['IP-CIDR,10.0.0.0/8,DIRECT,no-resolve', 'IP-CIDR,10.1.0.0/16,REJECT,no-resolve'];
    expect(shadows(a, 'GEOIP,CN,DIRECT', b)[2]).toBeNull();
    expect(shadows('GEOIP,CN,DIRECT', a, b)[2]).toBe(1);
    expect(shadows('RULE-SET,silent,REJECT', 'GEOIP,CN,DIRECT', 'RULE-SET,silent,DIRECT')[2]).toBeNull();
  });

  it('ignores disabled rules, and asks which targets accept every flow', () => {
    const list: ShadowRule[] = ['MATCH,PROXY', 'MATCH,DIRECT', 'DOMAIN,a.com,REJECT', 'DOMAIN,b.com,PROXY'].map(
      (line) => parseRuleLine(line),
    );
    expect(findShadowed(list)).toEqual([null, null, 1, 0]);
    expect(findShadowed(list, { alwaysTakes: () => true })).toEqual([null, 0, 0, 0]);
    const [first, second, third, last] = list as [ShadowRule, ShadowRule, ShadowRule, ShadowRule];
    expect(findShadowed([first, { ...second, enabled: false }, third, { ...last, enabled: false }])).toEqual([
      null,
      null,
      null,
      null,
    ]);
    const unreadable: ShadowRule = { type: 'IP-CIDR', payload: 'x', target: 'DIRECT' };
    expect(findShadowed([unreadable, unreadable])).toEqual([null, null]);
  });

  it('finds the same in slices, yielding to the event loop', async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `DOMAIN-SUFFIX,h${i % 2_000}.example.com,n${i % 3}`);
    const rules = lines.map((line) => parseRuleLine(line));
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns++;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const found = await findShadowedInSlices(rules, { alwaysTakes: () => true });
    over = true;
    expect(turns).toBeGreaterThanOrEqual(8);
    expect(found).toEqual(findShadowed(rules, { alwaysTakes: () => true }));
    await expect(findShadowedInSlices([])).resolves.toEqual([]);
  });

  it('handles 100,000 rules in about a second, also of the worst kinds', () => {
    const lists = {
      names: Array.from({ length: 100_000 }, (_, i) => `DOMAIN-SUFFIX,h${i % 50_000}.example${i % 7}.com,n${i % 5}`),
      same: Array.from({ length: 100_000 }, (_, i) => `DOMAIN,a.com,n${i}`),
      prefixes: Array.from({ length: 20_000 }, (_, i) => `IP-CIDR,10.0.0.0/${8 + (i % 20)},n${i},no-resolve`),
      ports: Array.from({ length: 20_000 }, (_, i) => `DST-PORT,${i},n${i}`),
    };
    for (const lines of Object.values(lists)) {
      const rules = lines.map((line) => parseRuleLine(line));
      const started = performance.now();
      findShadowed(rules);
      expect(performance.now() - started).toBeLessThan(5000);
    }
  });
});

const LABELS = ['a', 'ads', 'example', 'com', 'net'];
const host = fc.array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
const v4 = fc.constantFrom('10.1.2.3', '10.1.2.4', '10.0.0.1', '192.168.0.7', '8.8.8.8');
const cidr = fc.tuple(v4, fc.constantFrom(0, 8, 16, 24, 30, 32)).map(([ip, bits]) => `${ip}/${bits}`);
const word = fc.constantFrom('a', 'ad', 'example', 'ple.c', 's.', 'com');
const line = fc.oneof(
  { weight: 3, arbitrary: host.map((name) => `DOMAIN,${name}`) },
  { weight: 4, arbitrary: host.map((name) => `DOMAIN-SUFFIX,${name}`) },
  { weight: 2, arbitrary: word.map((text) => `DOMAIN-KEYWORD,${text}`) },
  { weight: 4, arbitrary: cidr.map((text) => `IP-CIDR,${text}`) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'GEOIP,CN',
      'GEOIP,LAN',
      'IP-ASN,1',
      'IP-SUFFIX,0.0.0.3/8',
      'DST-PORT,80',
      'DST-PORT,80-443',
      'NETWORK,udp',
      'RULE-SET,mixed',
      'RULE-SET,names',
      'RULE-SET,asking',
      'RULE-SET,gone',
      'AND,((GEOIP,CN,no-resolve),(NETWORK,tcp))',
      'NOT,((IP-CIDR,10.0.0.0/8))',
      'OR,((IP-CIDR,10.0.0.0/8,no-resolve),(IP-ASN,1))',
      'DOMAIN-WILDCARD,*.com',
    ),
  },
);
const target = fc.constantFrom('DIRECT', 'REJECT', 'PASS', 'n1', 'n2', 'GONE', 'G');
const rule = fc
  .record({ line, target, noResolve: fc.boolean(), src: fc.nat(5).map((n) => n === 0) })
  .map(({ line: text, target: tag, noResolve, src }): RuleConfig & { enabled?: boolean } => ({
    id: 1,
    source: 'manual',
    ...parseRuleLine(`${text},${tag}`),
    ...(noResolve && { noResolve }),
    ...(src && { src }),
  }));
const flow = fc
  .record({
    network: fc.constantFrom('tcp' as const, 'udp' as const),
    sourceIp: v4,
    host: fc.option(host, { freq: 5 }),
    destinationIp: fc.option(v4, { freq: 1 }),
    destinationPort: fc.constantFrom(80, 443, 53),
  })
  .map((part): ConnectionMetadata => ({ type: 'HTTP', sourcePort: 1, inboundName: 'in', inboundUser: null, ...part }));
const sets: RuleSetConfig[] = [
  { name: 'mixed', behavior: 'classical', entries: ['DOMAIN-SUFFIX,net', 'IP-CIDR,10.0.0.0/8,no-resolve', 'IP-ASN,1'] },
  { name: 'names', behavior: 'domain', entries: ['+.example', 'a.*'] },
  { name: 'asking', behavior: 'classical', entries: ['IP-CIDR,10.0.0.0/16', 'DOMAIN-SUFFIX,net', 'IP-ASN,1'] },
];

describe('compared with the router', () => {
  it('never calls a rule shadowed that decides a flow', { timeout: 60_000 }, async () => {
    let claims = 0;
    const ruleSets = compileRuleSets(sets);
    await fc.assert(
      fc.asyncProperty(
        fc.array(rule, { minLength: 10, maxLength: 25 }),
        fc.array(fc.tuple(flow, fc.option(v4, { freq: 4 })), { minLength: 4, maxLength: 12 }),
        fc.constantFrom('n1', 'n2', 'PASS'),
        async (rules, flows, selected) => {
          const policies = createPolicyTable(
            new Map([
              ['n1', { udp: true }],
              ['n2', { udp: false }],
            ]),
            [{ name: 'G', type: 'select', members: ['n1', 'n2', 'PASS'], selected }],
          );
          const shadowed = findShadowed(rules, {
            alwaysTakes: (tag) => ['DIRECT', 'REJECT', 'n1'].includes(tag),
            ruleSets: sets,
          });
          claims += shadowed.filter((index) => index !== null).length;
          let reply: string | null = null;
          const router = compileRouter({
            rules,
            mode: 'rule',
            defaultPolicy: 'DIRECT',
            policies,
            resolver: { resolve: async () => (reply === null ? [] : [reply]) },
            country: (ip) => (ip === '8.8.8.8' || ip === '10.1.2.3' ? 'CN' : null),
            asn: (ip) => (ip === '10.1.2.4' ? 1 : null),
            ruleSets,
          });
          for (const [one, address] of flows) {
            reply = address;
            const decision = await router.decide(one);
            const index = decision.rule?.index;
            if (index !== undefined) expect(shadowed[index]).toBeNull();
          }
          for (const [index, by] of shadowed.entries()) if (by !== null) expect(by).toBeLessThan(index);
        },
      ),
      { numRuns: 1200 },
    );
    expect(claims).toBeGreaterThan(1000);
  });

  it('finds every shadow among names, words and prefixes', () => {
    const plain = fc.oneof(
      host.map((name) => `DOMAIN,${name}`),
      host.map((name) => `DOMAIN-SUFFIX,${name}`),
      word.map((text) => `DOMAIN-KEYWORD,${text}`),
      cidr.map((text) => `IP-CIDR,${text}`),
    );
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 30 }), (lines) => {
        const expected = lines.map((later, index) => {
          const found = lines.slice(0, index).findIndex((earlier) => covers(earlier, later));
          return found < 0 ? null : found;
        });
        expect(shadows(...lines.map((text) => `${text},DIRECT`))).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

function covers(earlier: string, later: string): boolean {
  const [a = '', x = ''] = earlier.split(',');
  const [b = '', y = ''] = later.split(',');
  if (a === 'IP-CIDR' || b === 'IP-CIDR') {
    const [outer, inner] = [parseCidr(x), parseCidr(y)];
    return a === b && outer !== null && inner !== null && outer.prefix <= inner.prefix && cidrContains(outer, inner);
  }
  if (a === 'DOMAIN-KEYWORD') return y.includes(x);
  if (b === 'DOMAIN-KEYWORD') return false;
  if (a === 'DOMAIN-SUFFIX') return y === x || y.endsWith(`.${x}`);
  return a === b && x === y;
}
