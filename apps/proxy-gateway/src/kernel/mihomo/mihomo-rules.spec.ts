import type { KernelConfig } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { toMihomoRules, type GeoPrefixes } from './mihomo-rules.js';

type Rule = Pick<KernelConfig['rules'][number], 'type' | 'payload' | 'noResolve' | 'src'>;

const geo: GeoPrefixes = {
  country: (code) => (code === 'CN' ? ['192.0.2.0/24'] : []),
  asn: (number) => [`10.0.0.${number}/32`],
};

function rulesOf(rules: Rule[]) {
  const config: KernelConfig = {
    mode: 'rule',
    listeners: [],
    outbounds: [],
    groups: [],
    rules: rules.map((rule, id) => ({ id, source: 'manual', target: 'DIRECT', ...rule })),
    ruleSets: ['mine', 'geosite:cn'].map((name) => ({ name, behavior: 'domain', entries: ['a.example'] })),
    defaultPolicy: 'DIRECT',
  };
  return toMihomoRules(config, geo);
}

describe('rules for mihomo', () => {
  it('take sites from our own sets, also inside conditions', () => {
    expect(
      rulesOf([
        { type: 'GEOSITE', payload: 'CN' },
        { type: 'AND', payload: '((GEOSITE,CN),(NOT,((RULE-SET,mine))))' },
      ]).lines,
    ).toEqual([
      'RULE-SET,geosite:cn,DIRECT',
      'AND,((RULE-SET,geosite:cn),(NOT,((RULE-SET,mine)))),DIRECT',
      'MATCH,DIRECT',
      'MATCH,REJECT',
    ]);
  });

  it('take the prefixes of countries and autonomous systems from our databases, with all options', () => {
    const { lines, sets } = rulesOf([
      { type: 'GEOIP', payload: 'CN', noResolve: true },
      { type: 'GEOIP', payload: 'private' },
      { type: 'IP-ASN', payload: 'AS7', src: true },
      { type: 'OR', payload: '((GEOIP,cn,no-resolve),(SRC-IP-ASN,8))' },
    ]);
    expect(lines.slice(0, -2)).toEqual([
      'RULE-SET,geoip:cn,DIRECT,no-resolve',
      'RULE-SET,geoip:lan,DIRECT',
      'RULE-SET,asn:7,DIRECT,src',
      'OR,((RULE-SET,geoip:cn,no-resolve),(RULE-SET,asn:8,src)),DIRECT',
    ]);
    expect(sets.slice(2)).toEqual([
      { name: 'geoip:cn', behavior: 'ipcidr', entries: ['192.0.2.0/24'] },
      { name: 'geoip:lan', behavior: 'ipcidr', entries: [] },
      { name: 'asn:7', behavior: 'ipcidr', entries: ['10.0.0.7/32'] },
      { name: 'asn:8', behavior: 'ipcidr', entries: ['10.0.0.8/32'] },
    ]);
  });

  it('have sets with prefixes in place of countries and autonomous systems', () => {
    const entries = ['DOMAIN,a.example', 'GEOIP,cn,no-resolve', 'SRC-IP-ASN,7', 'GEOIP,XX'];
    const config: KernelConfig = {
      mode: 'rule',
      listeners: [],
      outbounds: [],
      groups: [],
      rules: [],
      ruleSets: [{ name: 'mixed', behavior: 'classical', entries }],
      defaultPolicy: 'DIRECT',
    };
    expect(toMihomoRules(config, geo).sets[0]?.entries).toEqual([
      'DOMAIN,a.example',
      'IP-CIDR,192.0.2.0/24,no-resolve',
      'IP-CIDR,10.0.0.7/32,src',
    ]);
  });

  it('separate ports as mihomo does, which would take the second one for the target', () => {
    expect(
      rulesOf([
        { type: 'DST-PORT', payload: '80,443' },
        { type: 'AND', payload: '((DST-PORT,80,443),(NETWORK,tcp))' },
      ]).lines.slice(0, 2),
    ).toEqual(['DST-PORT,80/443,DIRECT', 'AND,((DST-PORT,80/443),(NETWORK,tcp)),DIRECT']);
  });

  it.each([
    { type: 'RULE-SET', payload: 'gone' },
    { type: 'GEOSITE', payload: 'gone' },
    { type: 'OR', payload: '((DOMAIN,a.example),(RULE-SET,gone))' },
    { type: 'NOT', payload: '((GEOSITE,gone))' },
  ] as const)('leave %j out: mihomo would refuse all the others with it', (rule) => {
    const { lines, rules } = rulesOf([rule, { type: 'DOMAIN', payload: 'b.example' }]);
    expect(lines).toEqual(['DOMAIN,b.example,DIRECT', 'MATCH,DIRECT', 'MATCH,REJECT']);
    expect(rules).toMatchObject([{ id: 1 }]);
  });
});
