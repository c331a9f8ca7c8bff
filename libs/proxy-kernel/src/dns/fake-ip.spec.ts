import { describe, expect, it } from 'vitest';
import { KernelConfigError } from '../interfaces/kernel.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { createFakeIpPool, withRealName } from './index.js';

describe('addresses that stand for names', () => {
  it('gives each name one address, and the name back', () => {
    const pool = createFakeIpPool('198.18.0.0/16', ['+.lan', 'time.*.com']);
    const address = pool.addressFor('Example.com.');
    expect(address).toBe('198.18.0.1');
    expect(pool.addressFor('example.com')).toBe(address);
    expect(pool.addressFor('other.com')).toBe('198.18.0.2');
    expect(pool.nameOf('198.18.0.1')).toBe('example.com');
    expect(pool.nameOf('::ffff:198.18.0.2')).toBe('other.com');
    expect(['198.18.0.3', '8.8.8.8', '::1', 'x'].map((ip) => pool.nameOf(ip))).toEqual([null, null, null, null]);
    expect(['198.18.0.0', '198.18.255.255', '198.17.255.255', '198.19.0.0'].map((ip) => pool.contains(ip))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['printer.lan', 'time.apple.com', ''].map((name) => pool.addressFor(name))).toEqual([null, null, null]);
  });

  it('lets the name longest out of use go, looked up either way', () => {
    const pool = createFakeIpPool('10.0.0.0/29');
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect(names.map((name) => pool.addressFor(name))).toEqual(names.map((_, i) => `10.0.0.${i + 1}`));
    pool.addressFor('a');
    pool.nameOf('10.0.0.2');
    expect(pool.addressFor('g')).toBe('10.0.0.3');
    expect(pool.nameOf('10.0.0.3')).toBe('g');
    expect(pool.nameOf('10.0.0.1')).toBe('a');
    expect(pool.nameOf('10.0.0.2')).toBe('b');
    expect(pool.addressFor('c')).toBe('10.0.0.4');
  });

  it('makes of a flow to such an address one to the name', () => {
    const pool = createFakeIpPool('198.18.0.0/16');
    const address = pool.addressFor('a.com');
    const flow = { host: null, destinationIp: address, destinationPort: 443 } as ConnectionMetadata;
    expect(withRealName(flow, pool)).toEqual({ host: 'a.com', destinationIp: null, destinationPort: 443 });
    const other = { ...flow, destinationIp: '198.18.9.9' };
    expect(withRealName(other, pool)).toBe(other);
    const named = { ...flow, host: 'b.com' };
    expect(withRealName(named, pool)).toBe(named);
  });

  it('stays within its bounds in a wide range', () => {
    const pool = createFakeIpPool('10.0.0.0/8');
    for (let i = 0; i < 70_000; i++) pool.addressFor(`h${i}`);
    expect(pool.nameOf('10.0.0.1')).toBe('h65536');
    expect(pool.nameOf('10.1.0.1')).toBeNull();
  });

  it.each(['', '10.0.0.0', '10.0.0.0/30', '0.0.0.0/0', 'fc00::/18'])('refuses the range %j', (range) => {
    expect(() => createFakeIpPool(range)).toThrow(KernelConfigError);
  });
});
