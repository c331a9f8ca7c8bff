import { describe, expect, it } from 'vitest';
import { KernelConfigError } from '../interfaces/kernel.js';
import { formatRuleLine, parseRuleLine, validateRule } from './rule-line.js';

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
    ['MATCH,Some Group', { type: 'MATCH', payload: '', target: 'Some Group' }],
  ])('%s reads and writes back', (line, rule) => {
    expect(parseRuleLine(line)).toEqual(rule);
    expect(formatRuleLine(parseRuleLine(line))).toBe(line);
  });

  it.each([
    [' domain-suffix , example.com , PROXY ', 'DOMAIN-SUFFIX,example.com,PROXY'],
    ['SRC-IP-CIDR,192.168.0.0/16,DIRECT', 'IP-CIDR,192.168.0.0/16,DIRECT,src'],
    ['SRC-GEOIP,CN,DIRECT', 'GEOIP,CN,DIRECT,src'],
    ['FINAL,PROXY', 'MATCH,PROXY'],
  ])('%s is another way to write %s', (line, canonical) => {
    expect(formatRuleLine(parseRuleLine(line))).toBe(canonical);
  });

  it.each([
    ['', 'not a known rule type'],
    ['GEOSITE,cn,DIRECT', 'not a known rule type'],
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

  it('refuses to write a target that would read back as something else', () => {
    const rule = { type: 'MATCH' as const, payload: '' };
    for (const target of ['a,b', 'a\nMATCH,b', ' a'])
      expect(() => formatRuleLine({ ...rule, target })).toThrow(KernelConfigError);
  });

  it('validates without throwing', () => {
    expect(validateRule({ type: 'DOMAIN', payload: 'example.com', target: 'DIRECT' })).toBeNull();
    expect(validateRule({ type: 'DOMAIN', payload: 'exa mple', target: 'DIRECT' })).toBe(
      'payload: "exa mple" is not a domain name',
    );
    expect(validateRule({ type: 'DOMAIN', payload: 'a', target: '' })).toBe('target: is missing');
  });
});
