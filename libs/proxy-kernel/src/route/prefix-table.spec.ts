import { cidrContains, parseCidr, parseIp, type Cidr } from '@gatehouse/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixTable } from './prefix-table.js';

const cidr = (text: string): Cidr => {
  const value = parseCidr(text);
  if (!value) throw new Error(`bad prefix ${text}`);
  return value;
};
const words = (text: string) => parseIp(text)?.words ?? [];
const table = (width: 1 | 4, prefixes: string[]) =>
  new PrefixTable(
    width,
    prefixes.map((text, rule) => ({ cidr: cidr(text), rule })),
  );
const all = () => true;

describe('prefix table', () => {
  it('gives the smallest rule of nested prefixes, whatever their lengths', () => {
    const nested = table(1, ['10.1.0.0/16', '10.0.0.0/8', '10.1.2.0/24', '0.0.0.0/0', '10.1.0.0/16']);
    const find = (ip: string, from = 0, accept: (rule: number) => boolean = all) =>
      nested.find(words(ip), from, 9, accept);
    expect([find('10.1.2.3'), find('10.2.0.1'), find('11.0.0.0'), find('9.255.255.255')]).toEqual([0, 1, 3, 3]);
    expect(find('10.1.2.3', 2)).toBe(2);
    expect(find('10.1.2.3', 0, (rule) => rule === 4)).toBe(4);
    expect(find('255.255.255.255')).toBe(3);
  });

  it('has exact edges, the ends of the address space included', () => {
    const edges = table(1, ['0.0.0.0/32', '255.255.255.255/32', '10.0.0.0/15', '172.16.5.128/25']);
    const find = (ip: string) => edges.find(words(ip), 0, 9, all);
    expect([find('0.0.0.0'), find('0.0.0.1'), find('255.255.255.255'), find('255.255.255.254')]).toEqual([0, 9, 1, 9]);
    expect([find('9.255.255.255'), find('10.0.0.0'), find('10.1.255.255'), find('10.2.0.0')]).toEqual([9, 2, 2, 9]);
    expect([find('172.16.5.127'), find('172.16.5.128'), find('172.16.5.255'), find('172.16.6.0')]).toEqual([
      9, 3, 3, 9,
    ]);
    const high = table(4, ['ffff::/16', '::/128', '2001:db8::/32', '2001:db8:ffff:ffff::/64']);
    const find6 = (ip: string) => high.find(words(ip), 0, 9, all);
    expect([find6('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), find6('fffe:ffff::'), find6('::'), find6('::1')]).toEqual(
      [0, 9, 1, 9],
    );
    expect([find6('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'), find6('2001:db9::'), find6('2001:db7:ffff::')]).toEqual([
      2, 9, 9,
    ]);
  });

  it('is empty without entries', () => {
    expect(table(1, []).find(words('1.2.3.4'), 0, 5, all)).toBe(5);
    expect(table(4, []).find(words('::1'), 0, 5, all)).toBe(5);
  });

  it('agrees with comparing one prefix after the other', () => {
    const near = (ip: fc.Arbitrary<string>, bits: number) =>
      fc.tuple(ip, fc.integer({ min: 0, max: bits })).map(([text, n]) => `${text}/${n}`);
    const few4 = fc
      .tuple(fc.constantFrom(10, 11, 255), fc.nat(2), fc.nat(2), fc.nat(255))
      .map((parts) => parts.join('.'));
    const few6 = fc
      .tuple(fc.constantFrom('2001', 'ffff', '0'), fc.nat(3), fc.nat(0xffff))
      .map(([a, b, c]) => `${a}:${b}::${c.toString(16)}`);
    for (const [width, ip, bits] of [
      [1, fc.oneof(few4, fc.ipV4()), 32],
      [4, few6, 128],
    ] as const) {
      fc.assert(
        fc.property(
          fc.array(near(ip, bits), { maxLength: 60 }),
          fc.array(ip, { minLength: 1, maxLength: 20 }),
          fc.nat(30),
          fc.integer({ min: 1, max: 4 }),
          (prefixes, ips, from, step) => {
            const parsed = prefixes.map(cidr);
            const built = table(width, prefixes);
            for (const text of ips) {
              const address = parseIp(text);
              if (!address) throw new Error(text);
              const accept = (rule: number) => rule % step === 0;
              const expected = parsed.findIndex(
                (prefix, rule) => rule >= from && accept(rule) && cidrContains(prefix, address),
              );
              expect(built.find(address.words, from, 99, accept)).toBe(expected < 0 ? 99 : expected);
            }
          },
        ),
        { numRuns: 1000 },
      );
    }
  });
});
