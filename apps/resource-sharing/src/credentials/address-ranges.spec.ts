import { expect, it } from 'vitest';
import { AddressRanges } from './address-ranges.js';

it('an empty list allows every address', () => {
  expect(new AddressRanges([]).allows('203.0.113.1')).toBe(true);
  expect(new AddressRanges([]).allows(undefined)).toBe(true);
});

it('a range allows its addresses, in either notation of an IPv4 client', () => {
  const ranges = new AddressRanges(['192.0.2.0/24', '198.51.100.7', '2001:db8::/32']);
  for (const ip of ['192.0.2.1', '::ffff:192.0.2.255', '::FFFF:198.51.100.7', '198.51.100.7', '2001:db8:1::1']) {
    expect([ip, ranges.allows(ip)]).toEqual([ip, true]);
  }
  for (const ip of ['192.0.3.1', '198.51.100.8', '2001:db9::1', '::1', 'nonsense', undefined]) {
    expect([ip, ranges.allows(ip)]).toEqual([ip, false]);
  }
});
