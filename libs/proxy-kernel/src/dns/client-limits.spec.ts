import { describe, expect, it } from 'vitest';
import { ClientLimits, DEFAULT_DNS_LIMITS } from './client-limits.js';

describe('the limits of one DNS client', () => {
  it('are those of its IPv6 network of 64 bits, and of no other', () => {
    const limits = new ClientLimits({ ...DEFAULT_DNS_LIMITS, ratePerClient: 1 }, () => 0);
    expect(['2001:db8::1', '2001:db8::2', '2001:db8::3'].map((address) => limits.admits(address))).toEqual([
      true,
      true,
      false,
    ]);
    expect(limits.admits('2001:db8:0:1::1')).toBe(true);
  });

  it('are one for an IPv4 address in both its spellings', () => {
    const limits = new ClientLimits({ ...DEFAULT_DNS_LIMITS, ratePerClient: 1 }, () => 0);
    expect([limits.admits('192.0.2.1'), limits.admits('::ffff:192.0.2.1'), limits.admits('192.0.2.1')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(limits.admits('192.0.2.2')).toBe(true);
  });
});
