import { parseProfile, parseSubscription } from '@gatehouse/subscription-formats';
import { PROFILE_REASONS } from '@gatehouse/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROFILE_TEXTS } from '../profile-texts.js';
import { byBytes } from '../kernel-config/group-intake.js';
import { planProfile } from './plan-profile.js';
import type { ProfileContext } from './plan-profile.js';

const context = (more: Partial<ProfileContext> = {}): ProfileContext => ({
  groups: { label: 'Air', taken: new Set(['PROXY']), stored: new Map() },
  sets: { label: 'Air', taken: new Set(['reject']), stored: new Map() },
  nodeTag: (name) => (name === 'Tokyo' ? 'n1' : null),
  foreignTag: (name) => (name === 'PROXY' ? 'PROXY' : null),
  unknownTarget: (name) => name,
  hasSites: () => true,
  ...more,
});
const plan = (text: string, more?: Partial<ProfileContext>) =>
  planProfile(parseProfile(`proxies: []\n${text}`), context(more));

it('orders names as their bytes in UTF-8', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '香', '\u{ff21}', '\ufffd', '🇯', '😀') });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(byBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

describe('the plan of a profile', () => {
  it('knows built-in policies among the nodes, and groups whose names differ from one in case only', async () => {
    const profile = parseSubscription(
      `proxies: [{name: 直连, type: direct}, {name: Tokyo, type: http, server: t.example, port: 1}]
proxy-groups:
  - {name: Direct, type: select, proxies: [Tokyo, 直连]}
  - {name: Smart, type: smart, proxies: [Tokyo]}
rules: ['DOMAIN,a.example,直连', 'DOMAIN,b.example,Direct', 'DOMAIN,c.example,DIRECT']
`,
      { profile: true },
    ).profile!;
    const { groups, rules } = await planProfile(profile, context());
    expect(groups.map(({ storedAs, type, members }) => [storedAs, type, members])).toEqual([
      ['Air/Direct', 'select', ['n1', 'DIRECT']],
      ['Smart', 'url-test', ['n1']],
    ]);
    expect(rules.map(({ target }) => target)).toEqual(['DIRECT', 'Air/Direct', 'DIRECT']);
  });

  it('excludes listed members by their names, and keeps the order of a document without providers', async () => {
    const { groups } = await plan(`
proxy-groups:
  - {name: Listed, type: select, proxies: [Tokyo, Other, DIRECT], exclude-filter: 'Tok|DIR'}
  - {name: Other, type: select, include-all-proxies: true, filter: 'b\`a'}
`);
    expect(groups[0]?.members).toEqual(['Other']);
    expect(groups[1]?.intake).toMatchObject({ asListed: true });
  });

  it('keeps its names apart from those outside, and finds its own first', async () => {
    const { groups, rules, sets } = await plan(`
proxy-groups:
  - {name: PROXY, type: select, proxies: [Tokyo, Auto, Nowhere, PASS, block]}
  - {name: Auto, type: url-test, proxies: [Tokyo]}
  - {name: 'a,b', type: select, proxies: [DIRECT]}
  - {name: n7, type: select, proxies: [DIRECT]}
rule-providers:
  reject: {behavior: domain, url: https://r.example/reject}
rules: ['RULE-SET,reject,REJECT-DROP', 'AND,((RULE-SET,reject),(NETWORK,udp)),PROXY', 'MATCH,PROXY']
`);
    expect(groups.map(({ storedAs }) => storedAs)).toEqual(['Air/PROXY', 'Auto', 'a，b', 'Air/n7']);
    expect(groups[0]?.members).toEqual(['n1', 'Auto', 'REJECT']);
    expect(sets[0]?.storedAs).toBe('reject@Air');
    expect(rules.map(({ payload, target }) => [payload, target])).toEqual([
      ['reject@Air', 'REJECT-DROP'],
      ['((RULE-SET,reject@Air),(NETWORK,udp))', 'Air/PROXY'],
      ['', 'Air/PROXY'],
    ]);
  });

  it('gives what was stored before the same name again', async () => {
    const stored = new Map([['Auto', 'Old name']]);
    const { groups } = await plan('proxy-groups: [{name: Auto, type: select, proxies: [DIRECT]}]', {
      groups: { label: 'Other', taken: new Set(['Auto']), stored },
    });
    expect(groups[0]?.storedAs).toBe('Old name');
  });

  it('writes nested sub-rules out, and refuses those that name each other', async () => {
    const { rules, report } = await plan(`
sub-rules:
  a: ['DOMAIN,x.example,DIRECT', 'SUB-RULE,(NETWORK,udp),b', 'MATCH,REJECT']
  b: ['IP-CIDR,192.0.2.0/24,REJECT,no-resolve']
  c: ['SUB-RULE,(NETWORK,udp),c']
rules: ['SUB-RULE,(IN-TYPE,SOCKS5),a', 'SUB-RULE,(NETWORK,tcp),c', 'SUB-RULE,(NETWORK,tcp),nowhere', 'MATCH,DIRECT']
`);
    expect(rules.map(({ type, payload, target }) => `${type},${payload},${target}`)).toEqual([
      'AND,((IN-TYPE,SOCKS5),(DOMAIN,x.example)),DIRECT',
      'AND,((IN-TYPE,SOCKS5),(NETWORK,udp),(IP-CIDR,192.0.2.0/24,no-resolve)),REJECT',
      'IN-TYPE,SOCKS5,REJECT',
      'MATCH,,DIRECT',
    ]);
    const rows = report.sections.find(({ section }) => section === 'rules');
    expect(rows).toMatchObject({ total: 4, carried: 1, replaced: 1, left_out: 2 });
  });

  it('lets groups reject that it does not carry, so that nothing leaves by another way', async () => {
    const { groups } = await plan(`
proxy-groups:
  - {name: chain, type: relay, proxies: [Tokyo, Tokyo]}
  - {name: home, type: ssid, proxies: [Tokyo]}
  - {name: filtered, type: select, include-all: true, filter: '(?<=a)b'}
`);
    expect(groups.map(({ members, intake }) => [members, intake?.filter.readable ?? null])).toEqual([
      [[], null],
      [[], null],
      [[], false],
    ]);
  });

  it('has no circles, and counts every line of rules once, whatever the profile', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const group = fc.record({ name, type: fc.constant('select'), proxies: fc.array(name) });
    const line = fc.oneof(fc.string(), fc.constantFrom('MATCH,a', 'DOMAIN,x.example,b', 'SUB-RULE,(NETWORK,udp),l'));
    await fc.assert(
      fc.asyncProperty(fc.array(group), fc.array(line), fc.array(line), async (groups, rules, list) => {
        const profile = parseProfile(JSON.stringify({ 'proxy-groups': groups, rules, 'sub-rules': { l: list } }));
        const planned = await planProfile(profile, context());
        const members = new Map(planned.groups.map(({ storedAs, members: inside }) => [storedAs, inside]));
        const leadsBack = (from: string, to: string, seen = new Set<string>()): boolean =>
          (members.get(from) ?? []).some(
            (next) => next === to || (!seen.has(next) && leadsBack(next, to, seen.add(next))),
          );
        expect([...members.keys()].filter((each) => leadsBack(each, each))).toEqual([]);
        const counted = planned.report.sections.find(({ section }) => section === 'rules')?.total ?? 0;
        expect(counted).toBe(profile.rules.length);
      }),
    );
  });
});

it('has a text for every reason', () => {
  expect(PROFILE_REASONS.filter((reason) => PROFILE_TEXTS[reason] === '')).toEqual([]);
});
