import fc from 'fast-check';
import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { cidrContains, formatCidr, formatIp, hostCidr, parseCidr, parseIp, parseIpv4 } from './cidr.js';

const contains = (prefix: string, address: string) => {
  const outer = parseCidr(prefix);
  const inner = parseIp(address);
  if (!outer || !inner) throw new Error(`bad test input ${prefix} ${address}`);
  return cidrContains(outer, inner);
};

describe('addresses', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::ffff:a01:203', '10.1.2.3'],
    ['64:ff9b::10.1.2.3', '64:ff9b::a01:203'],
    ['fe80::1%eth0', 'fe80::1'],
    ['1::', '1::'],
    ['::1:2:3:4:5:6:7', '0:1:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
    ['::1.2.3.4%lo', '::102:304'],
    ['::%lo', '::'],
  ])('%s is %s', (text, canonical) => {
    const ip = parseIp(text);
    expect(ip && formatIp(ip)).toBe(canonical);
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.256',
    '1..3.4',
    '1.2.3.4 ',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8:9',
    '12345::',
    '::1.2.3',
    '1.2.3.4::',
    'g::',
    '::1%',
    '%',
    '::%',
    '1:%',
    ':1',
    '1:',
    '::1:',
    '::1:%eth0',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::1.2.3.4%',
    '1:2:3:4:5:6:7:8%',
    '::1.2.3.4:5',
    'example.com',
    `::${'1'.repeat(200)}`,
  ])('refuses %j', (text) => {
    expect(parseIp(text)).toBeNull();
  });

  it('agrees with node:net on any text', () => {
    const piece = fc.constantFrom(':', '::', '.', '0', '1', 'f', 'ffff', '255', '256', '10', 'g', '00', '%', '/');
    const junk = fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), junk), (text) => {
        expect(parseIp(text) !== null).toBe(isIP(text) !== 0);
        expect(parseIpv4(text) >= 0).toBe(isIP(text) === 4);
      }),
      { numRuns: 2000 },
    );
  });

  it('parses its own canonical text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const ip = parseIp(text);
        if (!ip) throw new Error('not parsed');
        expect(parseIp(formatIp(ip))).toEqual(ip);
      }),
    );
  });
});

describe('prefixes', () => {
  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['2001:db8:1::/33', '2001:db8::/33'],
    ['::/0', '::/0'],
    ['::ffff:10.1.0.0/104', '10.0.0.0/8'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
  ])('%s is %s', (text, canonical) => {
    const value = parseCidr(text);
    expect(value && formatCidr(value)).toBe(canonical);
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '::/129',
    '10.0.0/8',
    'fe80::1%e/64',
    'x/8',
    '1.2.3.4/8/8',
  ])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeNull();
  });

  it('contains by family and by bits', () => {
    expect(contains('10.0.0.0/8', '10.255.255.255')).toBe(true);
    expect(contains('10.0.0.0/8', '11.0.0.0')).toBe(false);
    expect(contains('128.0.0.0/1', '255.0.0.1')).toBe(true);
    expect(contains('0.0.0.0/0', '255.0.0.1')).toBe(true);
    expect(contains('::/0', '1.2.3.4')).toBe(false);
    expect(contains('10.0.0.0/8', '::ffff:10.0.0.1')).toBe(true);
    expect(contains('2001:db8::/33', '2001:db8:7fff::1')).toBe(true);
    expect(contains('2001:db8::/33', '2001:db8:8000::')).toBe(false);
    expect(contains('2001:db8::1/128', '2001:db8::1')).toBe(true);
  });

  it('of one address contains only that address', () => {
    const one = parseIp('2001:db8::5');
    if (!one) throw new Error('not parsed');
    expect(formatCidr(hostCidr(one))).toBe('2001:db8::5/128');
  });
});
