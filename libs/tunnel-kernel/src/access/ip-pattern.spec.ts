import { describe, expect, it } from 'vitest';
import { formatCidr } from '@gatehouse/net';
import { IpPatternError, parseIpPattern } from './ip-pattern.js';
import type { IpPatternKind } from '../config.js';

function cidrs(kind: IpPatternKind, text: string): string[] {
  const { matcher } = parseIpPattern(kind, text);
  return 'cidrs' in matcher ? matcher.cidrs.map(formatCidr) : [];
}

function failure(kind: IpPatternKind, text: string): IpPatternError {
  try {
    parseIpPattern(kind, text);
  } catch (error) {
    if (error instanceof IpPatternError) return error;
    throw error;
  }
  throw new Error(`${kind} ${text} was taken`);
}

describe('patterns of addresses', () => {
  it.each<[IpPatternKind, string, string]>([
    ['exact', '1.2.3.4', '1.2.3.4'],
    ['exact', ' 2001:DB8:0:0::1 ', '2001:db8::1'],
    ['exact', '::ffff:10.1.2.3', '10.1.2.3'],
    ['cidr', '10.0.0.0/8', '10.0.0.0/8'],
    ['cidr', '0.0.0.0/0', '0.0.0.0/0'],
    ['cidr', '2001:DB8::/32', '2001:db8::/32'],
    ['cidr', '::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['wildcard', '10.*', '10.*'],
    ['wildcard', '10.1.*.*', '10.1.*'],
    ['wildcard', '10.1.2.*', '10.1.2.*'],
    ['range', '10.0.0.1 - 10.0.0.9', '10.0.0.1-10.0.0.9'],
    ['range', '2001:db8::1-2001:db8::ffff', '2001:db8::1-2001:db8::ffff'],
    ['country', 'de', 'DE'],
    ['country', '!cn', '!CN'],
    ['country', 'Private', 'private'],
    ['country', '!private', '!private'],
    ['any', '*', '*'],
    ['asn', 'as13335', 'AS13335'],
    ['asn', '13335', 'AS13335'],
    ['asn', '! AS0013335', '!AS13335'],
    ['asn', 'AS4294967295', 'AS4294967295'],
  ])('%s %s is stored as %s', (kind, text, canonical) => {
    expect(parseIpPattern(kind, text).canonical).toBe(canonical);
    expect(parseIpPattern(kind, canonical).canonical).toBe(canonical);
  });

  it.each<[IpPatternKind, string, string | null]>([
    ['cidr', '10.1.2.3/8', '10.0.0.0/8'],
    ['cidr', '2001:db8::1/32', '2001:db8::/32'],
    ['cidr', '::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['cidr', '10.1.2.3', '10.1.2.3/32'],
    ['cidr', '10.0.0.0/33', null],
    ['cidr', 'fe80::%eth0/64', 'fe80::/64'],
    ['exact', '10.0.0.0/8', null],
    ['exact', 'fe80::1%eth0', 'fe80::1'],
    ['exact', '010.0.0.1', null],
    ['exact', '', null],
    ['asn', 'AS0', null],
    ['asn', 'AS4294967296', null],
    ['asn', '1.10', null],
    ['asn', 'AS-13335', null],
    ['asn', '!!1', null],
    ['asn', '', null],
    ['wildcard', '*', null],
    ['any', '0.0.0.0/0', '*'],
    ['wildcard', '10.*.3.4', null],
    ['wildcard', '*.1.2.3', null],
    ['wildcard', '10.1.2.3', null],
    ['wildcard', '300.*', null],
    ['wildcard', '10.1.2.*.*', null],
    ['wildcard', '2001:db8:*', null],
    ['range', '10.0.0.9-10.0.0.1', '10.0.0.1-10.0.0.9'],
    ['range', '10.0.0.1-2001:db8::1', null],
    ['range', '10.0.0.1', null],
    ['range', '10.0.0.1-10.0.0.2-10.0.0.3', null],
    ['country', 'UK', 'GB'],
    ['country', '!UK', '!GB'],
    ['country', 'XX', null],
    ['country', 'DEU', null],
    ['country', '!', null],
  ])('%s %s is refused, and %s is suggested', (kind, text, suggestion) => {
    expect(failure(kind, text).suggestion).toBe(suggestion);
  });

  it('suggest only patterns that are accepted', () => {
    const { suggestion } = failure('cidr', '10.1.2.3/8');
    expect(parseIpPattern('cidr', suggestion ?? '').canonical).toBe('10.0.0.0/8');
    expect(failure('cidr', '10.1.2.3/8').message).toContain('did you mean 10.0.0.0/8?');
  });

  it('cover a range with the fewest prefixes', () => {
    expect(cidrs('range', '10.0.0.1-10.0.0.6')).toEqual(['10.0.0.1/32', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6/32']);
    expect(cidrs('range', '0.0.0.0-255.255.255.255')).toEqual(['0.0.0.0/0']);
    expect(cidrs('range', '::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff')).toEqual(['::/0']);
    expect(cidrs('range', '10.0.0.5-10.0.0.5')).toEqual(['10.0.0.5/32']);
  });
});
