import { hostCidr, formatIp, parseIp, type IpAddress } from '@gatehouse/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressSet } from './address-set.js';
import { parseAddressRange } from './ip-pattern.js';
import { ipNumber, wordsOf } from './ip-range.js';

function setOf(...texts: string[]): AddressSet {
  return AddressSet.of(texts.map(parseAddressRange));
}

function ip(text: string): IpAddress {
  const address = parseIp(text);
  if (!address) throw new Error(text);
  return address;
}

describe('a set of addresses', () => {
  it('has what is between the ends of its ranges, in both families', () => {
    const set = setOf('10.0.0.0/8', '192.0.2.7', '203.0.113.5-203.0.113.9', '2001:db8::/32', '::5-::7');
    for (const inside of [
      '10.0.0.0',
      '10.255.255.255',
      '192.0.2.7',
      '203.0.113.5',
      '203.0.113.9',
      '2001:db8::',
      '::6',
    ]) {
      expect(set.has(ip(inside)), inside).toBe(true);
    }
    for (const outside of ['9.255.255.255', '11.0.0.0', '192.0.2.6', '203.0.113.10', '2001:db9::', '::4', '::8']) {
      expect(set.has(ip(outside)), outside).toBe(false);
    }
  });

  it('joins ranges that overlap or touch', () => {
    expect(setOf('10.0.0.0/9', '10.128.0.0/9', '10.1.0.0/16', '11.0.0.0').size).toBe(1);
    expect(setOf('10.0.0.0/8').encode()).toBe(setOf('10.0.0.0/9', '10.128.0.0/9').encode());
    expect(setOf('0.0.0.0/0', '::/0').size).toBe(2);
  });

  it('is empty without ranges', () => {
    expect(AddressSet.of([]).has(ip('::'))).toBe(false);
    expect(AddressSet.decode(AddressSet.of([]).encode())?.size).toBe(0);
  });

  it('does not read a text that it did not write', () => {
    const text = setOf('10.0.0.1', '10.0.0.3').encode();
    const bytes = Buffer.from(text, 'base64');
    const swapped = Buffer.concat([bytes.subarray(0, 4), bytes.subarray(12), bytes.subarray(4, 12)]);
    for (const broken of [bytes.subarray(0, -1), bytes.subarray(0, 3), swapped, Buffer.concat([bytes, bytes])]) {
      expect(AddressSet.decode(broken.toString('base64'))).toBe(null);
    }
    expect(AddressSet.decode('')).toBe(null);
  });

  it('decides as the ranges do one by one, also after it was written and read', () => {
    const word = fc.integer({ min: 0, max: 40 });
    const one = fc.record({ family: fc.constantFrom(4 as const, 6 as const), from: word, size: word });
    fc.assert(
      fc.property(fc.array(one), (parts) => {
        // IPv6 addresses whose last word turns over inside the ranges.
        const at = (family: 4 | 6, offset: number): bigint => BigInt(offset) + (family === 4 ? 10n : (1n << 64n) - 20n);
        const ranges = parts.map(({ family, from, size }) => ({
          family,
          first: at(family, from),
          last: at(family, from + size),
        }));
        const set = AddressSet.of(ranges);
        const read = AddressSet.decode(set.encode());
        for (const family of [4, 6] as const) {
          for (let offset = 0; offset <= 90; offset++) {
            const number = at(family, offset) - 5n;
            const address = { family, words: wordsOf(family, number) };
            const expected = ranges.some((range) => {
              return range.family === family && range.first <= number && number <= range.last;
            });
            expect(set.has(address)).toBe(expected);
            expect(read?.has(address)).toBe(expected);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('an entry of a list', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['10.0.0.0/8', '10.0.0.0', '10.255.255.255'],
    ['10.0.0.1 - 10.0.0.9', '10.0.0.1', '10.0.0.9'],
    ['2001:db8::/126', '2001:db8::', '2001:db8::3'],
    ['::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('%s is from %s to %s', (text, first, last) => {
    const range = parseAddressRange(text);
    expect(range).toEqual({ family: ip(first).family, first: ipNumber(ip(first)), last: ipNumber(ip(last)) });
    expect(formatIp(hostCidr({ family: range.family, words: wordsOf(range.family, range.first) }))).toBe(first);
  });

  it.each(['10.0.0.1/8', '10.0.0.9-10.0.0.1', '10.0.0.1-::1', 'example.org', '', '10.0.0', 'fe80::1%eth0', '1-2-3'])(
    '%j is none',
    (text) => expect(() => parseAddressRange(text)).toThrow(),
  );
});
