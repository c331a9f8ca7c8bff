import { AppError } from '@gatehouse/platform';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readKeyExpiry } from './key-expiry.js';

describe('the expiry of a new key', () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-05-01T12:00:00Z'), toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  it('is absent if none is given', () => {
    expect([readKeyExpiry(null), readKeyExpiry(undefined)]).toEqual([null, null]);
  });

  it('is in the future', () => {
    expect(readKeyExpiry('2026-05-01T12:00:01Z')).toEqual(new Date('2026-05-01T12:00:01Z'));
  });

  it.each(['2026-05-01T12:00:00Z', '2001-01-01', 'not a date', ''])('refuses %j and names the field', (text) => {
    expect(() => readKeyExpiry(text)).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        details: [{ field: 'expires_at', message: 'must be in the future' }],
      }) as Error,
    );
  });

  it('is refused with the service’s own error for fields', () => {
    const refuse = (field: string, message: string) => new AppError('VALIDATION_FAILED', `${field}: ${message}`);
    expect(() => readKeyExpiry('2001-01-01', refuse)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }) as Error,
    );
  });
});
