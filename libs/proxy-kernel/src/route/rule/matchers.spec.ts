import { describe, expect, it } from 'vitest';
import type { ConnectionMetadata } from '../../interfaces/connection.js';
import { createMatcher } from './create-matcher.js';
import { RuleError } from './rule-error.js';
import type { RuleCondition } from './rule-type.js';

const flow = (part: Partial<ConnectionMetadata>): ConnectionMetadata => ({
  network: 'tcp',
  type: 'HTTP',
  sourceIp: '192.168.1.5',
  sourcePort: 50_000,
  inboundName: 'mixed',
  inboundUser: null,
  host: null,
  destinationIp: null,
  destinationPort: 443,
  ...part,
});
const country = (ip: string) => (ip === '1.2.3.4' ? 'CN' : null);
const asn = (ip: string) => (ip === '1.2.3.4' ? 13_335 : null);
const context = { country, asn, sets: { get: () => null } };
const rule = (line: string): RuleCondition => {
  const [type, payload = '', ...options] = line.split(';');
  return {
    type: type as RuleCondition['type'],
    payload,
    noResolve: options.includes('no-resolve'),
    src: options.includes('src'),
  };
};

describe('matchers', () => {
  it.each<[string, Partial<ConnectionMetadata>, boolean | 'needs-ip']>([
    ['DOMAIN;Example.COM', { host: 'example.com' }, true],
    ['DOMAIN;example.com', { host: 'www.example.com' }, false],
    ['DOMAIN;bücher.de', { host: 'xn--bcher-kva.de' }, true],
    ['DOMAIN;example.com', { destinationIp: '1.2.3.4' }, false],
    ['DOMAIN-SUFFIX;example.com', { host: 'example.com' }, true],
    ['DOMAIN-SUFFIX;example.com', { host: 'a.b.example.com' }, true],
    ['DOMAIN-SUFFIX;example.com', { host: 'badexample.com' }, false],
    ['DOMAIN-SUFFIX;.example.com', { host: 'www.example.com' }, true],
    ['DOMAIN-SUFFIX;中国', { host: 'x.xn--fiqs8s' }, true],
    ['DOMAIN-SUFFIX;com', { host: null, destinationIp: '1.2.3.4' }, false],
    ['DOMAIN-KEYWORD;Goog', { host: 'mail.google.com' }, true],
    ['DOMAIN-KEYWORD;goog', { host: 'example.com' }, false],
    ['DOMAIN-WILDCARD;*.example.com', { host: 'a.b.example.com' }, true],
    ['DOMAIN-WILDCARD;*.example.com', { host: 'example.com' }, false],
    ['DOMAIN-WILDCARD;ex?mple.com', { host: 'exmple.com' }, false],
    ['DOMAIN-WILDCARD;EX?mple.*', { host: 'example.' }, true],
    ['DOMAIN-WILDCARD;*a*a*a*b', { host: 'a'.repeat(250) }, false],
    ['DOMAIN-REGEX;^ad\\d+\\.', { host: 'ad7.example.com' }, true],
    ['IP-CIDR;10.0.0.0/8', { destinationIp: '10.1.1.1' }, true],
    ['IP-CIDR;10.0.0.0/8', { destinationIp: '::ffff:10.1.1.1' }, true],
    ['IP-CIDR;10.0.0.0/8', { destinationIp: '2001:db8::1' }, false],
    ['IP-CIDR;10.0.0.0/8', { host: 'example.com' }, 'needs-ip'],
    ['IP-CIDR;10.0.0.0/8;no-resolve', { host: 'example.com' }, false],
    ['IP-CIDR;10.0.0.0/8;no-resolve', { host: 'example.com', destinationIp: '10.0.0.1' }, true],
    ['IP-CIDR;10.0.0.0/8', { host: null }, false],
    ['IP-CIDR;10.0.0.0/8', { destinationIp: 'nonsense' }, false],
    ['IP-CIDR;192.168.0.0/16;src', { host: 'example.com' }, true],
    ['IP-CIDR;10.0.0.0/8;src', { host: 'example.com' }, false],
    ['IP-CIDR6;2001:db8::/32', { destinationIp: '2001:db8::1' }, true],
    ['IP-SUFFIX;0.0.3.4/16', { destinationIp: '9.9.3.4' }, true],
    ['IP-SUFFIX;0.0.3.4/17', { destinationIp: '9.9.131.4' }, false],
    ['IP-SUFFIX;1.2.3.4/0', { destinationIp: '9.9.9.9' }, true],
    ['IP-SUFFIX;1.2.3.4/32', { destinationIp: '1.2.3.4' }, true],
    ['IP-SUFFIX;1.2.3.4/8', { destinationIp: '::4' }, false],
    ['IP-SUFFIX;::1:2/40', { destinationIp: '2001:db8::ff00:0:1:2' }, true],
    ['IP-SUFFIX;::1:1:2/40', { destinationIp: '2001:db8::2:1:2' }, false],
    ['IP-SUFFIX;0.0.0.5/8', { host: 'a.com' }, 'needs-ip'],
    ['IP-SUFFIX;0.0.0.5/8;src', { host: 'a.com' }, true],
    ['IP-ASN;13335', { destinationIp: '1.2.3.4' }, true],
    ['IP-ASN;as13335', { destinationIp: '1.2.3.5' }, false],
    ['IP-ASN;13335', { host: 'a.com' }, 'needs-ip'],
    ['IP-ASN;13335;no-resolve', { host: 'a.com' }, false],
    ['SRC-PORT;49000-51000', {}, true],
    ['SRC-PORT;443', {}, false],
    ['IN-PORT;7890/7891', { inboundPort: 7891 }, true],
    ['IN-PORT;1-65535', {}, false],
    ['IN-TYPE;socks', { type: 'Socks4' }, true],
    ['IN-TYPE;SOCKS4/HTTP', { type: 'HTTP' }, true],
    ['IN-TYPE;HTTP', { type: 'HTTPS' }, false],
    ['IN-USER;anna/ben', { inboundUser: 'ben' }, true],
    ['IN-USER;anna/ben', { inboundUser: null }, false],
    ['IN-NAME;mixed', {}, true],
    ['IN-NAME;MIXED', {}, false],
    ['AND;((DOMAIN,a.com),(NETWORK,tcp))', { host: 'a.com' }, true],
    ['AND;((DOMAIN,a.com),(NETWORK,udp))', { host: 'a.com' }, false],
    ['AND;((NETWORK,udp),(GEOIP,CN))', { host: 'a.com' }, false],
    ['AND;((GEOIP,CN),(NETWORK,udp))', { host: 'a.com' }, 'needs-ip'],
    ['AND;((NETWORK,tcp),(GEOIP,CN))', { host: 'a.com' }, 'needs-ip'],
    ['AND;((NETWORK,tcp),(GEOIP,CN,no-resolve))', { host: 'a.com' }, false],
    ['OR;((GEOIP,CN),(NETWORK,tcp))', { host: 'a.com' }, true],
    ['OR;((GEOIP,CN),(NETWORK,udp))', { host: 'a.com' }, 'needs-ip'],
    ['OR;((DOMAIN,b.com),(NETWORK,udp))', { host: 'a.com' }, false],
    ['NOT;((DOMAIN,b.com))', { host: 'a.com' }, true],
    ['NOT;((GEOIP,CN))', { host: 'a.com' }, 'needs-ip'],
    ['NOT;((GEOIP,CN))', { host: 'a.com', destinationIp: '' }, true],
    ['AND;((OR,((DOMAIN-REGEX,^(a|b)\\.),(DST-PORT,22,80))),(NOT,((SRC-IP-CIDR,10.0.0.0/8))))', { host: 'a.x' }, true],
    ['RULE-SET;nothing', { host: 'a.com' }, false],
    ['GEOIP;cn', { destinationIp: '1.2.3.4' }, true],
    ['GEOIP;CN', { destinationIp: '8.8.8.8' }, false],
    ['GEOIP;CN', { host: 'example.com' }, 'needs-ip'],
    ['GEOIP;CN;no-resolve', { host: 'example.com' }, false],
    ['GEOIP;LAN', { destinationIp: '172.31.0.1' }, true],
    ['GEOIP;LAN', { destinationIp: '172.32.0.1' }, false],
    ['GEOIP;private', { destinationIp: 'fe80::1' }, true],
    ['GEOIP;LAN', { destinationIp: '224.0.0.251' }, true],
    ['GEOIP;LAN;src', { host: 'example.com' }, true],
    ['DST-PORT;80/443/8000-9000', { destinationPort: 443 }, true],
    ['DST-PORT;80, 443', { destinationPort: 443 }, true],
    ['DST-PORT;80/8000-9000', { destinationPort: 9000 }, true],
    ['DST-PORT;80/8000-9000', { destinationPort: 9001 }, false],
    ['DST-PORT;9000-8000', { destinationPort: 8500 }, true],
    ['DST-PORT;0-65535', { destinationPort: 65_535 }, true],
    ['NETWORK;UDP', { network: 'udp' }, true],
    ['NETWORK;udp', { network: 'tcp' }, false],
    ['MATCH', {}, true],
  ])('%s on %j: %s', (line, part, expected) => {
    expect(createMatcher(rule(line), context).matches(flow(part))).toBe(expected);
  });

  it.each([
    ['DOMAIN;Example.com', 'DOMAIN,example.com'],
    ['DOMAIN-SUFFIX;.example.com', 'DOMAIN-SUFFIX,example.com'],
    ['DOMAIN-KEYWORD;A', 'DOMAIN-KEYWORD,a'],
    ['DOMAIN-WILDCARD;*.A', 'DOMAIN-WILDCARD,*.a'],
    ['DOMAIN-REGEX;a+', 'DOMAIN-REGEX,a+'],
    ['IP-CIDR;10.1.2.3/8;no-resolve', 'IP-CIDR,10.0.0.0/8,no-resolve'],
    ['IP-CIDR6;2001:DB8::/32;src', 'IP-CIDR6,2001:db8::/32,src'],
    ['GEOIP;private', 'GEOIP,LAN'],
    ['DST-PORT;443, 9000-8000', 'DST-PORT,443/8000-9000'],
    ['NETWORK;UDP', 'NETWORK,udp'],
    ['MATCH', 'MATCH'],
  ])('%s describes itself as %s', (line, text) => {
    expect(createMatcher(rule(line), context).describe()).toBe(text);
  });

  it.each([
    'DOMAIN;',
    'DOMAIN;a..b',
    'DOMAIN;a b',
    `DOMAIN;${'a'.repeat(64)}.com`,
    `DOMAIN;${'a.'.repeat(127)}com`,
    'DOMAIN;http://example.com',
    'DOMAIN-SUFFIX;',
    'DOMAIN-SUFFIX;..a',
    'DOMAIN-SUFFIX;+.a',
    'DOMAIN-KEYWORD;',
    'DOMAIN-KEYWORD;a/b',
    'DOMAIN-WILDCARD;',
    'DOMAIN-WILDCARD;a[b]',
    'DOMAIN-REGEX;(',
    'IP-CIDR;10.0.0.0',
    'IP-CIDR;10.0.0.0/33',
    'IP-CIDR;example.com/8',
    'GEOIP;CHN',
    'GEOIP;',
    'DST-PORT;',
    'DST-PORT;65536',
    'DST-PORT;80//443',
    'DST-PORT;1-2-3',
    `DST-PORT;${Array.from({ length: 29 }, (_, i) => i).join('/')}`,
    'NETWORK;icmp',
    'MATCH;x',
    'GEOSITE;c n',
    'constructor;x',
  ])('refuses %s', (line) => {
    expect(() => createMatcher(rule(line), context)).toThrow(RuleError);
  });

  it('accepts 28 port ranges and explains how an address becomes a prefix', () => {
    const ports = Array.from({ length: 28 }, (_, i) => i).join('/');
    expect(createMatcher(rule(`DST-PORT;${ports}`), context).matches(flow({ destinationPort: 27 }))).toBe(true);
    expect(() => createMatcher(rule('IP-CIDR;10.0.0.1'), context)).toThrow('10.0.0.1/32');
    expect(() => createMatcher(rule('IP-CIDR6;::1'), context)).toThrow('::1/128');
  });
});
