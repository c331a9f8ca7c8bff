import type { KernelConfig } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { toMihomoConfig } from './mihomo-config.js';

type Rule = Pick<KernelConfig['rules'][number], 'type' | 'payload'>;

function rulesOf(rules: Rule[]): unknown {
  const config: KernelConfig = {
    mode: 'rule',
    listeners: [],
    outbounds: [],
    groups: [],
    rules: rules.map((rule, id) => ({ id, source: 'manual', target: 'DIRECT', ...rule })),
    ruleSets: ['mine', 'geosite:cn'].map((name) => ({ name, behavior: 'domain', entries: ['a.example'] })),
    defaultPolicy: 'DIRECT',
  };
  return toMihomoConfig(config, { socket: 's', ports: new Map() })['rules'];
}

describe('rules for mihomo', () => {
  it('take sites from our own sets, also inside conditions', () => {
    expect(
      rulesOf([
        { type: 'GEOSITE', payload: 'CN' },
        { type: 'AND', payload: '((GEOSITE,CN),(NOT,((RULE-SET,mine))))' },
      ]),
    ).toEqual([
      'RULE-SET,geosite:cn,DIRECT',
      'AND,((RULE-SET,geosite:cn),(NOT,((RULE-SET,mine)))),DIRECT',
      'MATCH,DIRECT',
      'MATCH,REJECT',
    ]);
  });

  it.each([
    { type: 'RULE-SET', payload: 'gone' },
    { type: 'GEOSITE', payload: 'gone' },
    { type: 'OR', payload: '((DOMAIN,a.example),(RULE-SET,gone))' },
    { type: 'NOT', payload: '((GEOSITE,gone))' },
  ] as const)('leave %j out: mihomo would refuse all the others with it', (rule) => {
    expect(rulesOf([rule, { type: 'DOMAIN', payload: 'b.example' }])).toEqual([
      'DOMAIN,b.example,DIRECT',
      'MATCH,DIRECT',
      'MATCH,REJECT',
    ]);
  });
});
