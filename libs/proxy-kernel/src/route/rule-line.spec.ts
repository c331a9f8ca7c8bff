import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KernelConfigError } from '../interfaces/kernel.js';
import { type RuleDefinition, formatRuleLine, parseRuleLine, validateRule } from './rule-line.js';
import { RULE_TYPES } from './rule/rule-type.js';

describe('rule lines', () => {
  it.each([
    ['DOMAIN-SUFFIX,example.com,PROXY', { type: 'DOMAIN-SUFFIX', payload: 'example.com', target: 'PROXY' }],
    [
      'IP-CIDR,10.0.0.0/8,DIRECT,no-resolve',
      { type: 'IP-CIDR', payload: '10.0.0.0/8', target: 'DIRECT', noResolve: true },
    ],
    [
      'GEOIP,LAN,DIRECT,no-resolve,src',
      { type: 'GEOIP', payload: 'LAN', target: 'DIRECT', noResolve: true, src: true },
    ],
    ['DOMAIN-REGEX,^a{1,3}\\.,REJECT', { type: 'DOMAIN-REGEX', payload: '^a{1,3}\\.', target: 'REJECT' }],
    ['DST-PORT,80,443,DIRECT', { type: 'DST-PORT', payload: '80,443', target: 'DIRECT' }],
    ['DOMAIN-SUFFIX,x,PROXY,no-resolve', { type: 'DOMAIN-SUFFIX', payload: 'x', target: 'PROXY', noResolve: true }],
    ['SRC-PORT,80,443,DIRECT', { type: 'SRC-PORT', payload: '80,443', target: 'DIRECT' }],
    ['GEOSITE,geolocation-!cn,PROXY', { type: 'GEOSITE', payload: 'geolocation-!cn', target: 'PROXY' }],
    [
      'RULE-SET,my ads,REJECT,no-resolve,src',
      { type: 'RULE-SET', payload: 'my ads', target: 'REJECT', noResolve: true, src: true },
    ],
    [
      'AND,((DOMAIN,baidu.com),(NETWORK,UDP)),DIRECT',
      { type: 'AND', payload: '((DOMAIN,baidu.com),(NETWORK,UDP))', target: 'DIRECT' },
    ],
    [
      'NOT,((OR,((IP-CIDR,10.0.0.0/8,no-resolve),(DOMAIN-REGEX,^(a|b){1,2})))),DIRECT,no-resolve',
      {
        type: 'NOT',
        payload: '((OR,((IP-CIDR,10.0.0.0/8,no-resolve),(DOMAIN-REGEX,^(a|b){1,2}))))',
        target: 'DIRECT',
        noResolve: true,
      },
    ],
    ['IN-USER,anna/ben,DIRECT', { type: 'IN-USER', payload: 'anna/ben', target: 'DIRECT' }],
    ['MATCH,Some Group', { type: 'MATCH', payload: '', target: 'Some Group' }],
  ])('%s reads and writes back', (line, rule) => {
    expect(parseRuleLine(line)).toEqual(rule);
    expect(formatRuleLine(parseRuleLine(line))).toBe(line);
  });

  it.each([
    [' domain-suffix , example.com , PROXY ', 'DOMAIN-SUFFIX,example.com,PROXY'],
    ['SRC-IP-CIDR,192.168.0.0/16,DIRECT', 'IP-CIDR,192.168.0.0/16,DIRECT,src'],
    ['SRC-GEOIP,CN,DIRECT', 'GEOIP,CN,DIRECT,src'],
    ['SRC-IP-ASN,13335,DIRECT', 'IP-ASN,13335,DIRECT,src'],
    ['SRC-IP-SUFFIX,1.2.3.4/8,DIRECT', 'IP-SUFFIX,1.2.3.4/8,DIRECT,src'],
    ['and, ((DOMAIN,a),(DOMAIN,b)) , DIRECT', 'AND,((DOMAIN,a),(DOMAIN,b)),DIRECT'],
    ['FINAL,PROXY', 'MATCH,PROXY'],
  ])('%s is another way to write %s', (line, canonical) => {
    expect(formatRuleLine(parseRuleLine(line))).toBe(canonical);
  });

  it.each([
    ['', 'not a known rule type'],
    ['GEOSITE,c n,DIRECT', 'not the code of a list of sites'],
    ['PROCESS-NAME,curl,DIRECT', 'PROCESS-NAME needs an operating-system hook'],
    ['PROCESS-PATH-REGEX,x,DIRECT', 'needs an operating-system hook'],
    ['UID,1000,DIRECT', 'needs an operating-system hook'],
    ['SUB-RULE,(NETWORK,tcp),list', 'SUB-RULE names a list'],
    ['AND,((DOMAIN,a),(PROCESS-NAME,x)),DIRECT', 'PROCESS-NAME needs an operating-system hook'],
    ['AND,((DOMAIN,a),(NETWORK,udp),DIRECT', 'a parenthesis is not closed'],
    ['AND,((DOMAIN,a),(MATCH)),DIRECT', 'MATCH is no condition'],
    ['AND,(DOMAIN,a),DIRECT', 'needs its own parentheses'],
    ['AND,DOMAIN,DIRECT', 'not a list in parentheses'],
    ['AND,(),DIRECT', 'AND needs a condition'],
    ['NOT,((DOMAIN,a),(DOMAIN,b)),DIRECT', 'NOT needs exactly one condition'],
    ['OR,((DOMAIN,a),(IP-CIDR,x)),DIRECT', 'IP-CIDR: "x" is not an address prefix'],
    [`${'NOT,(('.repeat(9)}DOMAIN,a${'))'.repeat(9)},DIRECT`, 'nest deeper than 8'],
    [`OR,(${'(DOMAIN,a),'.repeat(300)}(DOMAIN,a)),DIRECT`, 'more than 256 conditions'],
    ['IP-SUFFIX,1.2.3.4/33,DIRECT', 'not an address and a number of bits'],
    ['IP-ASN,4294967296,DIRECT', 'not the number of an autonomous system'],
    ['IN-TYPE,TUN,DIRECT', 'not an inbound of this kernel'],
    ['IN-USER,a//b,DIRECT', 'not a list of names'],
    ['toString,cn,DIRECT', 'not a known rule type'],
    ['DOMAIN,example.com', 'needs a payload and a target'],
    ['DOMAIN,example.com,', 'target: is missing'],
    ['MATCH', 'target: is missing'],
    ['IP-CIDR,10.0.0.0,DIRECT', 'needs a prefix length'],
    ['IP-CIDR,10.0.0.0/8,DIRECT,dst', '"dst" is not an option'],
    [`DOMAIN,${'a'.repeat(3000)},DIRECT`, 'longer than'],
  ])('%s is refused: %s', (line, message) => {
    expect(() => parseRuleLine(line)).toThrow(KernelConfigError);
    expect(() => parseRuleLine(line)).toThrow(message);
  });

  it('refuses to write a target that would be read as something else', () => {
    const rule = { type: 'MATCH' as const, payload: '' };
    for (const target of ['a,b', 'a\nMATCH,b', ' a'])
      expect(() => formatRuleLine({ ...rule, target })).toThrow(KernelConfigError);
  });

  it('reads back every valid rule that it writes', () => {
    const word = fc.constantFrom(
      'a.com',
      '10.0.0.0/8',
      'CN',
      '80/443',
      'udp',
      'x y',
      '1.2.3.4/8',
      '13335',
      'HTTP',
      '',
      '.+',
      'a,b',
      '(',
      '((',
      ')',
    );
    const logic = fc.letrec((tie) => ({
      list: fc
        .array(tie('one'), { minLength: 1, maxLength: 3 })
        .map((all) => `(${all.map((one) => `(${String(one)})`).join(',')})`),
      one: fc.oneof(
        { depthSize: 'small' },
        fc.tuple(fc.constantFrom(...RULE_TYPES, 'SRC-GEOIP'), word).map((pair) => pair.join(',')),
        fc.tuple(fc.constantFrom('AND', 'OR', 'NOT'), tie('list')).map((pair) => pair.join(',')),
      ),
    })).list as fc.Arbitrary<string>;
    const definition = fc.record({
      type: fc.constantFrom(...RULE_TYPES),
      payload: fc.oneof(word, logic, fc.string()),
      target: fc.constantFrom('DIRECT', 'Some Group'),
      options: fc.subarray(['noResolve', 'src'] as const),
    });
    const written = new Set<string>();
    fc.assert(
      fc.property(definition, ({ options, ...head }) => {
        const rule: RuleDefinition = { ...head };
        if (validateRule(rule) !== null) return;
        if (!['DOMAIN-REGEX', 'DST-PORT', 'SRC-PORT', 'IN-PORT'].includes(rule.type))
          for (const option of options) rule[option] = true;
        const line = formatRuleLine(rule);
        expect(parseRuleLine(line)).toEqual(rule);
        written.add(rule.type);
      }),
      { numRuns: 20_000 },
    );
    expect([...written].toSorted()).toEqual([...RULE_TYPES].toSorted());
  });

  it('validates without throwing', () => {
    expect(validateRule({ type: 'DOMAIN', payload: 'example.com', target: 'DIRECT' })).toBeNull();
    expect(validateRule({ type: 'DOMAIN', payload: 'exa mple', target: 'DIRECT' })).toBe(
      'payload: "exa mple" is not a domain name',
    );
    expect(validateRule({ type: 'DOMAIN', payload: 'a', target: '' })).toBe('target: is missing');
    const endless = `(${'(DOMAIN,a),'.repeat(2000)})`;
    expect(validateRule({ type: 'OR', payload: endless, target: 'DIRECT' })).toContain('longer than 16384');
  });
});
