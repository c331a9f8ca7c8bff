import { describe, expect, it } from 'vitest';
import { FailedVisits } from './failed-visits.js';

describe('failed visits', () => {
  it('are answered late after ten in a minute from one source, where an IPv6 /64 is one source', () => {
    let now = 0;
    const failed = new FailedVisits(() => now);
    for (let count = 0; count < 10; count++) expect(failed.note(`2001:db8::${count}`)).toBe(0);
    expect(failed.note('2001:db8::ffff')).toBeGreaterThan(0);
    expect(failed.note('2001:db8:0:1::1')).toBe(0);
    expect(failed.note('192.0.2.1')).toBe(0);
    now = 60_000;
    expect(failed.note('2001:db8::1')).toBe(0);
  });

  it('from very many sources use limited memory', () => {
    const failed = new FailedVisits(() => 0);
    for (let index = 0; index < 12_000; index++) failed.note(`10.0.${index >> 8}.${index & 255}`);
    expect((failed as unknown as { failures: Map<string, unknown> }).failures.size).toBe(10_000);
  });
});
