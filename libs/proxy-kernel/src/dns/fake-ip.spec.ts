import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KernelConfigError } from '../interfaces/kernel.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { createFakeIpPool, withRealName } from './index.js';

describe('addresses that stand for names', () => {
  it('gives each name one address, and the name for that address', () => {
    const pool = createFakeIpPool('198.18.0.0/16', ['+.lan', 'time.*.com']);
    const [address, other] = [pool.addressFor('Example.com.'), pool.addressFor('other.com')];
    expect(address).toMatch(/^198\.18\.\d+\.\d+$/);
    expect(pool.addressFor('example.com')).toBe(address);
    expect(other).not.toBe(address);
    expect(pool.nameOf(address ?? '')).toBe('example.com');
    expect(pool.nameOf(`::ffff:${other}`)).toBe('other.com');
    expect(['198.18.0.0', '198.18.255.255', '8.8.8.8', '::1', 'x'].map((ip) => pool.nameOf(ip))).toEqual(
      Array(5).fill(null),
    );
    expect(['198.18.0.0', '198.18.255.255', '198.17.255.255', '198.19.0.0'].map((ip) => pool.contains(ip))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['printer.lan', 'time.apple.com', ''].map((name) => pool.addressFor(name))).toEqual([null, null, null]);
  });

  it('drops the least recently used name, looked up either way', () => {
    const pool = createFakeIpPool('10.0.0.0/29');
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const addresses = names.map((name) => pool.addressFor(name) ?? '');
    expect(addresses.toSorted()).toEqual(names.map((_, i) => `10.0.0.${i + 1}`));
    pool.addressFor('a');
    pool.nameOf(addresses[1] ?? '');
    expect(pool.addressFor('g')).toBe(addresses[2]);
    expect(pool.nameOf(addresses[2] ?? '')).toBe('g');
    expect(pool.nameOf(addresses[0] ?? '')).toBe('a');
    expect(pool.nameOf(addresses[1] ?? '')).toBe('b');
    expect(pool.addressFor('c')).toBe(addresses[3]);
  });

  it('behaves like a table that drops the oldest entry', () => {
    const name = fc.nat(20).map((n) => `n${n}`);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 60 }), (asked) => {
        const pool = createFakeIpPool('10.0.0.0/29');
        let recent: string[] = [];
        for (const each of asked) {
          recent = [each, ...recent.filter((other) => other !== each)].slice(0, 6);
          expect(pool.nameOf(pool.addressFor(each) ?? '')).toBe(each);
        }
        const known = [1, 2, 3, 4, 5, 6].flatMap((last) => pool.nameOf(`10.0.0.${last}`) ?? []);
        expect(known.toSorted()).toEqual(recent.toSorted());
      }),
    );
  });

  it('gives a name the same address after a restart', () => {
    const [before, after] = [createFakeIpPool('198.18.0.0/16'), createFakeIpPool('198.18.0.0/16')];
    for (let i = 0; i < 500; i++) after.addressFor(`other${i}.test`);
    const names = Array.from({ length: 500 }, (_, i) => `name${i}.test`);
    const same = names.filter((name) => before.addressFor(name) === after.addressFor(name));
    expect(same.length).toBeGreaterThan(480);
  });

  it('keeps its names under another filter, not in another range', () => {
    const first = createFakeIpPool('198.18.0.0/16');
    const address = first.addressFor('a.com') ?? '';
    const second = createFakeIpPool('198.18.0.1/16', ['+.com'], first);
    expect(second.nameOf(address)).toBe('a.com');
    expect(second.addressFor('a.com')).toBeNull();
    expect(createFakeIpPool('198.18.0.0/15', [], second).nameOf(address)).toBeNull();
  });

  it('turns a flow to such an address into one to the name', () => {
    const pool = createFakeIpPool('198.18.0.0/16');
    const address = pool.addressFor('a.com');
    const flow = { host: null, destinationIp: address, destinationPort: 443 } as ConnectionMetadata;
    expect(withRealName(flow, pool)).toEqual({
      host: 'a.com',
      destinationIp: null,
      destinationPort: 443,
      fakeIp: true,
    });
    const other = { ...flow, destinationIp: address === '198.18.9.9' ? '198.18.9.8' : '198.18.9.9' };
    expect(withRealName(other, pool)).toBe(other);
    const named = { ...flow, host: 'b.com' };
    expect(withRealName(named, pool)).toBe(named);
  });

  it('stays within its bounds in a wide range', () => {
    const pool = createFakeIpPool('10.0.0.0/8');
    const names = Array.from({ length: 70_000 }, (_, i) => `h${i}`);
    const addresses = names.map((name) => pool.addressFor(name) ?? '');
    expect(new Set(addresses).size).toBeLessThanOrEqual(65_536);
    const kept = names.filter((name, i) => pool.nameOf(addresses[i] ?? '') === name);
    expect(kept.length).toBeGreaterThan(40_000);
    expect(pool.nameOf(addresses.at(-1) ?? '')).toBe(names.at(-1));
  });

  it.each(['', '10.0.0.0', '10.0.0.0/30', '0.0.0.0/0', 'fc00::/18'])('refuses the range %j', (range) => {
    expect(() => createFakeIpPool(range)).toThrow(KernelConfigError);
  });
});
