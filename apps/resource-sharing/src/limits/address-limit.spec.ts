import { describe, expect, it } from 'vitest';
import type { ResourceSharingSettings } from '../settings.js';
import { AddressLimit } from './address-limit.js';

const limit = (apiRateLimit: number): AddressLimit => new AddressLimit({ apiRateLimit } as ResourceSharingSettings);

describe('the address limit', () => {
  it('allows a minute’s worth of requests at once, then one after another', () => {
    const four = limit(4);
    expect([0, 0, 0, 0].map((at) => four.hit('192.0.2.1', at))).toEqual([0, 0, 0, 0]);
    expect(four.hit('192.0.2.1', 0)).toBe(15_000);
    expect(four.hit('192.0.2.1', 14_000)).toBe(1_000);
    expect(four.hit('192.0.2.1', 15_000)).toBe(0);
    expect(four.hit('192.0.2.1', 15_000)).toBe(15_000);
    expect(four.hit('192.0.2.2', 15_000)).toBe(0);
  });

  it('is off at 0', () => {
    const none = limit(0);
    for (let i = 0; i < 1_000; i++) expect(none.hit('192.0.2.1', 0)).toBe(0);
  });

  it('remembers a limited number of addresses', () => {
    const one = limit(1);
    for (let i = 0; i < 120_000; i++) one.hit(`address ${i}`, 0);
    const { arrivals } = one as unknown as { arrivals: Map<string, number> };
    expect(arrivals.size).toBeLessThanOrEqual(50_000);
    expect(one.hit('address 119999', 0)).toBeGreaterThan(0);
  });
});
