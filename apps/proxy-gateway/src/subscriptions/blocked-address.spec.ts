import { describe, expect, it } from 'vitest';
import { isBlockedAddress } from './blocked-address.js';

describe('isBlockedAddress', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback, end of range', '127.255.255.254'],
    ['private 10', '10.0.0.1'],
    ['private 172', '172.31.255.255'],
    ['private 192', '192.168.1.1'],
    ['shared (carrier NAT)', '100.64.0.1'],
    ['link local and metadata', '169.254.169.254'],
    ['Azure metadata', '168.63.129.16'],
    ['this network', '0.0.0.0'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['benchmark', '198.18.0.1'],
    ['IPv6 loopback', '::1'],
    ['IPv6 unspecified', '::'],
    ['unique local', 'fd00:ec2::254'],
    ['link local', 'fe80::1'],
    ['link local with zone', 'fe80::1%eth0'],
    ['site local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hex', '::ffff:7f00:1'],
    ['mapped private, long form', '0:0:0:0:0:ffff:0a00:0001'],
    ['compatible loopback', '::127.0.0.1'],
    ['6to4 of a private address', '2002:c0a8:0101::1'],
    ['6to4 of a public address', '2002:0808:0808::1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64 local', '64:ff9b:1::a9fe:a9fe'],
    ['Teredo', '2001:0:53aa:64c:0:fbfe:3f57:fed1'],
    ['documentation', '2001:db8::1'],
    // The table of 3x-ui (GHSA-cfpf-wmjp-gh6c), as far as it says anything else.
    ['6to4 of loopback', '2002:7f00:0001::1'],
    ['6to4 of metadata', '2002:a9fe:a9fe::1'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
    ['Teredo of loopback', '2001:0:dead:beef::80ff:fffe'],
    ['mapped carrier NAT', '::ffff:100.64.0.1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['not an address', 'example.com'],
    ['empty', ''],
  ])('blocks %s: %s', (_what, address) => {
    expect(isBlockedAddress(address)).toBe(true);
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '::ffff:8.8.8.8',
  ])('lets %s through', (address) => {
    expect(isBlockedAddress(address)).toBe(false);
  });
});
