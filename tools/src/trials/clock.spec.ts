import { describe, expect, it } from 'vitest';
import { offsetToMidnight } from './clock.js';

describe('a clock that is to show a minute before midnight', () => {
  it.each([
    ['2026-03-01T23:00:00Z', '2026-03-01T23:59:00Z'],
    ['2026-03-01T12:30:00Z', '2026-03-01T23:59:00Z'],
    ['2026-03-01T00:00:00Z', '2026-03-01T23:59:00Z'],
    ['2026-03-01T23:59:30Z', '2026-03-02T23:59:00Z'],
  ])('at %s shows %s', (now, shown) => {
    const at = Date.parse(now);
    expect(new Date(at + offsetToMidnight(60, at) * 1_000).toISOString()).toBe(shown.replace('Z', '.000Z'));
  });
});
