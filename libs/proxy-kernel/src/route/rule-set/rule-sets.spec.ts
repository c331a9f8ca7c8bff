import { describe, expect, it } from 'vitest';
import { createPolicyTable } from '../../group/index.js';
import type { RuleConfig, RuleSetConfig } from '../../interfaces/config.js';
import type { ConnectionMetadata } from '../../interfaces/connection.js';
import { KernelConfigError } from '../../interfaces/kernel.js';
import { compileRouter } from '../compile-router.js';
import { parseRuleLine } from '../rule-line.js';
import { validateRuleSetEntry } from './compile-entries.js';
import { type CompiledRuleSets, compileRuleSets } from './rule-sets.js';

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
const set = (name: string, behavior: RuleSetConfig['behavior'], ...entries: readonly string[]): RuleSetConfig => ({
  name,
  behavior,
  entries,
});
const rules = (...lines: string[]): RuleConfig[] =>
  lines.map((line, id) => ({ id, source: 'manual', ...parseRuleLine(line) }));
const router = (list: RuleConfig[], ruleSets: CompiledRuleSets, asked: string[] = []) =>
  compileRouter({
    rules: list,
    mode: 'rule',
    defaultPolicy: 'DIRECT',
    policies: createPolicyTable(new Map(), []),
    resolver: {
      resolve: (host) => {
        asked.push(host);
        return Promise.resolve(['10.0.0.1']);
      },
    },
    country: () => null,
    ruleSets,
  });

describe('rule sets', () => {
  it.each<[string, string, boolean]>([
    ['+.example.com', 'example.com', true],
    ['+.example.com', 'a.b.example.com', true],
    ['+.example.com', 'badexample.com', false],
    ['.example.com', 'example.com', false],
    ['.example.com', 'a.b.example.com', true],
    ['*.example.com', 'a.example.com', true],
    ['*.example.com', 'a.b.example.com', false],
    ['*.example.com', 'example.com', false],
    ['example.com', 'example.com', true],
    ['example.com', 'a.example.com', false],
    ['a.*.com', 'a.b.com', true],
    ['a.*.com', 'a.b.c.com', false],
    ['a.*', 'a.com', true],
    ['*', 'localhost', true],
    ['*', 'a.com', false],
    ['+.BÜCHER.de', 'www.xn--bcher-kva.de', true],
  ])('%s and %s: %s', (entry, host, expected) => {
    const decision = router(rules('RULE-SET,s,REJECT'), compileRuleSets([set('s', 'domain', entry)])).decide(
      flow({ host }),
    );
    expect(decision).toMatchObject({ outbound: expected ? 'REJECT' : 'DIRECT' });
  });

  it('matches a name that is in one set twice', () => {
    const sets = compileRuleSets([set('s', 'domain', 'a.com', '.a.com', 'a.com', '*.b.com', 'b.com')]);
    const one = router(rules('RULE-SET,s,REJECT'), sets);
    for (const host of ['a.com', 'x.y.a.com', 'b.com', 'x.b.com'])
      expect(one.decide(flow({ host }))).toMatchObject({ outbound: 'REJECT' });
    expect(one.decide(flow({ host: 'x.y.b.com' }))).toMatchObject({ outbound: 'DIRECT' });
  });

  it('resolves domains for prefixes, but not for names or with no-resolve', async () => {
    const sets = compileRuleSets([
      set('names', 'domain', 'b.com'),
      set('nets', 'ipcidr', '10.0.0.0/8', '2001:db8::1'),
      set('both', 'classical', 'DOMAIN,a.com', 'IP-CIDR,10.0.0.0/8'),
    ]);
    const asked: string[] = [];
    const decide = (line: string, host: string) =>
      Promise.resolve(router(rules(line), sets, asked).decide(flow({ host }))).then(({ outbound }) => outbound);
    expect(await decide('RULE-SET,names,REJECT', 'a.com')).toBe('DIRECT');
    expect(await decide('RULE-SET,nets,REJECT,no-resolve', 'a.com')).toBe('DIRECT');
    expect(await decide('RULE-SET,both,REJECT', 'a.com')).toBe('REJECT');
    expect(asked).toEqual([]);
    expect(await decide('RULE-SET,nets,REJECT', 'a.com')).toBe('REJECT');
    expect(await decide('RULE-SET,both,REJECT', 'c.com')).toBe('REJECT');
    expect(asked).toEqual(['a.com', 'c.com']);
    expect(router(rules('RULE-SET,nets,REJECT,src'), sets).decide(flow({ sourceIp: '10.9.9.9' }))).toMatchObject({
      outbound: 'REJECT',
    });
  });

  it('skips a rule whose set does not exist, also inside a condition, with a reason', async () => {
    const list = rules('RULE-SET,gone,REJECT', 'GEOSITE,CN,REJECT', 'NOT,((RULE-SET,gone)),REJECT', 'MATCH,DIRECT');
    const { trace } = await router(list, compileRuleSets([])).explain(flow({ host: 'a.com' }));
    expect(trace.map(({ result, reason }) => [result, reason])).toEqual([
      ['skipped', 'rule set gone does not exist'],
      ['skipped', 'rule set geosite:cn does not exist'],
      ['skipped', 'rule set gone does not exist'],
      ['match', undefined],
    ]);
  });

  it('reads GEOSITE from the set of that name, whatever its case', () => {
    const sets = compileRuleSets([set('geosite:cn', 'classical', 'DOMAIN-SUFFIX,cn', 'DOMAIN-KEYWORD,baidu')]);
    const one = router(rules('GEOSITE,CN,REJECT'), sets);
    expect(one.decide(flow({ host: 'www.baidu.com' }))).toMatchObject({ outbound: 'REJECT' });
    expect(one.decide(flow({ host: 'a.cn' }))).toMatchObject({ outbound: 'REJECT' });
  });

  it('warns of a few unreadable entries and keeps the others', () => {
    const bad = Array.from({ length: 100 }, (_, i) => `bad name ${i}`);
    const sets = compileRuleSets([
      set('s', 'domain', 'a.com', ...bad),
      set('c', 'classical', 'PROCESS-NAME,curl', 'RULE-SET,s', 'AND,((RULE-SET,s),(NETWORK,udp))', 'MATCH'),
    ]);
    expect(sets.warnings).toEqual([
      ...bad.slice(0, 5).map((name) => `rule set s: ${JSON.stringify(name)} is not a domain name`),
      'rule set s: 95 more entries cannot be read',
      'rule set c: PROCESS-NAME needs an operating-system hook',
      'rule set c: RULE-SET cannot stand in a rule set',
      'rule set c: a rule set cannot name another',
      'rule set c: MATCH cannot stand in a rule set',
    ]);
    expect(sets.get('s')?.hasDomain('a.com')).toBe(true);
  });

  it('reuses unchanged sets', () => {
    const entries = Array.from({ length: 2000 }, (_, i) => `+.h${i}.com`);
    const first = compileRuleSets([set('big', 'domain', ...entries), set('small', 'domain', 'a.com')]);
    const again = [set('big', 'domain', ...entries), set('small', 'domain', 'a.com')];
    expect(compileRuleSets(again, first)).toBe(first);
    const changed = compileRuleSets([set('big', 'domain', ...entries), set('small', 'domain', 'b.com')], first);
    expect(changed).not.toBe(first);
    expect(changed.get('small')?.hasDomain('a.com')).toBe(false);
    expect(changed.get('big')?.hasDomain('x.h7.com')).toBe(true);
    const asCidr = compileRuleSets([set('big', 'ipcidr', ...entries), set('small', 'domain', 'a.com')], first);
    expect(asCidr.get('big')?.hasDomain('h7.com')).toBe(false);
  });

  it('refuses two sets of one name', () => {
    expect(() => compileRuleSets([set('s', 'domain'), set('s', 'ipcidr')])).toThrow(KernelConfigError);
  });

  it.each([
    ['domain', 'a b', '"a b" is not a domain name'],
    ['domain', '+.a.*.com', '"a.*.com" is not a domain name'],
    ['domain', 'a*b.com', '* stands for one whole label'],
    ['ipcidr', 'a.com', 'neither an address nor a prefix'],
    ['classical', 'DOMAIN-SUFFIX,a.com,extra', '"extra" is not an option'],
    ['classical', `DOMAIN,${'a'.repeat(3000)}`, 'longer than 2048'],
  ] as const)('refuses the %s entry %s', (behavior, entry, message) => {
    expect(validateRuleSetEntry(behavior, entry)).toContain(message);
    expect(validateRuleSetEntry(behavior, behavior === 'classical' ? 'DOMAIN,a.com' : '1.2.3.4')).toBeNull();
  });

  it('bounds the patterns of each lookup', () => {
    const patterns = Array.from({ length: 400 }, (_, i) => `h${i}.*.com`);
    expect(compileRuleSets([set('s', 'domain', ...patterns)]).warnings.at(-1)).toContain('139 more entries');
  });
});
