import { describe, expect, it } from 'vitest';
import type { IpPatternKind } from '@gatehouse/tunnel-kernel';
import { parseAddressPattern } from './address-pattern.js';

const accepted: [IpPatternKind, string, string][] = [
  ['exact', ' 192.0.2.1 ', '192.0.2.1'],
  ['exact', '2001:DB8:0::1', '2001:db8::1'],
  ['exact', '::ffff:192.0.2.1', '192.0.2.1'],
  ['cidr', '10.0.0.0/8', '10.0.0.0/8'],
  ['cidr', '2001:DB8::/32', '2001:db8::/32'],
  ['wildcard', '10.*', '10.*'],
  ['wildcard', '10.1.*.*', '10.1.*'],
  ['range', '192.0.2.1 - 192.0.2.9', '192.0.2.1-192.0.2.9'],
  ['range', '2001:db8::1-2001:db8::ff', '2001:db8::1-2001:db8::ff'],
  ['country', 'cn', 'CN'],
  ['country', '!cn', '!CN'],
  ['country', 'PRIVATE', 'private'],
];
const refused: [IpPatternKind, string, string][] = [
  ['exact', '010.1.1.1', 'address'],
  ['exact', 'fe80::1%eth0', 'zone'],
  ['exact', '10.0.0.0/8', 'prefix'],
  ['cidr', '10.1.2.3/8', '10.0.0.0/8'],
  ['cidr', '10.0.0.0', '10.0.0.0/32'],
  ['cidr', '10.0.0.0/33', 'prefix'],
  ['wildcard', '*.1', 'last octets'],
  ['wildcard', '10.*.1', 'last octets'],
  ['wildcard', '256.*', 'last octets'],
  ['wildcard', '10.1.1.1', 'last octets'],
  ['wildcard', '10.*.*.*.*', 'last octets'],
  ['range', '192.0.2.9-192.0.2.1', '192.0.2.1-192.0.2.9'],
  ['range', '192.0.2.9-::1', 'family'],
  ['range', '192.0.2.9', 'range of addresses'],
  ['country', 'CHN', 'country'],
  ['country', 'XX', 'country'],
  ['country', '!uk', 'GB'],
];

describe('patterns of rules', () => {
  it.each(accepted)('%s %s is stored as %s', (kind, text, stored) => {
    expect(parseAddressPattern(kind, text)).toBe(stored);
  });

  it.each(refused)('%s %s is refused', (kind, text, reason) => {
    expect(() => parseAddressPattern(kind, text)).toThrow(reason);
  });
});
