import { describe, expect, it } from 'vitest';
import { readKeyExpiry } from './key-expiry.js';

const NOW = Date.parse('2026-05-01T12:00:00Z');

describe('the expiry of a new key', () => {
  it('is never without one', () => {
    expect([readKeyExpiry(null, NOW), readKeyExpiry(undefined, NOW)]).toEqual([null, null]);
  });

  it('is in the future', () => {
    expect(readKeyExpiry('2026-05-01T12:00:01Z', NOW)).toEqual(new Date('2026-05-01T12:00:01Z'));
  });

  it.each(['2026-05-01T12:00:00Z', '2001-01-01', 'not a date', ''])('refuses %j and names the field', (text) => {
    expect(() => readKeyExpiry(text, NOW)).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        details: [{ field: 'expires_at', message: 'must be in the future' }],
      }) as Error,
    );
  });
});
