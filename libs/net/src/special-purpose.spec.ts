import { describe, expect, it } from 'vitest';
import { formatCidr } from './cidr.js';
import { isLoopback, isPublicAddress, isSpecialUseName, specialPurposeRanges } from './special-purpose.js';

describe('addresses of the Internet', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '11.0.0.1',
    '126.255.255.255',
    '128.0.0.1',
    '168.63.129.15',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.1',
    '192.0.1.1',
    '192.167.255.255',
    '100.63.255.255',
    '100.128.0.1',
    '198.17.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '2001:200::1',
    '::ffff:8.8.8.8',
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback, end of range', '127.255.255.254'],
    ['private 10', '10.0.0.1'],
    ['private 172', '172.31.255.255'],
    ['private 192', '192.168.1.1'],
    ['carrier NAT', '100.64.0.1'],
    ['link-local, metadata', '169.254.169.254'],
    ['metadata of Azure', '168.63.129.16'],
    ['metadata of Alibaba', '100.100.100.200'],
    ['metadata of Oracle', '192.0.0.192'],
    ['metadata of Amazon, IPv6', 'fd00:ec2::254'],
    ['metadata of Google, IPv6', 'fd20:ce::254'],
    ['metadata of Azure, mapped', '::ffff:168.63.129.16'],
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['protocol assignments', '192.0.0.1'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['6to4 relay', '192.88.99.1'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['class E', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 loopback', '::1'],
    ['IPv6 unspecified', '::'],
    ['unique local', 'fc00::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['IPv6 multicast', 'ff02::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hexadecimal', '::ffff:7f00:1'],
    ['mapped private, long form', '0:0:0:0:0:ffff:0a00:0001'],
    ['mapped carrier NAT', '::ffff:100.64.0.1'],
    ['IPv4-compatible loopback', '::127.0.0.1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['6to4 of a private address', '2002:c0a8:0101::1'],
    ['6to4 of a public address', '2002:0808:0808::1'],
    ['6to4 of metadata', '2002:a9fe:a9fe::1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
    ['NAT64, local use', '64:ff9b:1::a9fe:a9fe'],
    ['Teredo', '2001:0:53aa:64c:0:fbfe:3f57:fed1'],
    ['IETF assignments', '2001:1ff::1'],
    ['IPv6 documentation', '2001:db8::1'],
    ['IPv6 documentation', '3fff::1'],
    ['discard-only', '100::1'],
    ['segment routing', '5f00::1'],
    ['not allocated', '4000::1'],
    ['a name', 'example.com'],
    ['nothing', ''],
    ['a short form that others would complete', '127.1'],
    ['an octal form', '0177.0.0.1'],
  ])('%s: %s is not one', (_what, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

it('ranges can be selected by purpose, in canonical form', () => {
  expect(specialPurposeRanges('link-local', 'loopback').map(formatCidr)).toEqual([
    '169.254.0.0/16',
    'fe80::/10',
    '127.0.0.0/8',
    '::1/128',
  ]);
});

describe('special-use names', () => {
  it.each([
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'foo.localhost.',
    'printer.local',
    'metadata.google.internal',
    'internal',
    'router.home.arpa',
    '1.0.0.127.in-addr.arpa.',
    'localhost.localdomain',
  ])('%s is one', (name) => {
    expect(isSpecialUseName(name)).toBe(true);
  });

  it.each(['example.com', 'localhost.example', 'mylocalhost', 'thelocal', 'local.example.com', 'x-internal', ''])(
    '%s is none',
    (name) => {
      expect(isSpecialUseName(name)).toBe(false);
    },
  );
});

describe('isLoopback', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])('%s is', (address) => {
    expect(isLoopback(address)).toBe(true);
  });
  it.each(['0.0.0.0', '::', '10.0.0.1', '192.168.1.1', '::2', '2001:db8::1', '128.0.0.1', '1::1', '::ffff:10.0.0.1'])(
    '%s is not',
    (address) => {
      expect(isLoopback(address)).toBe(false);
    },
  );
});
