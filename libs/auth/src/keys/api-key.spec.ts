import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApiKey, parseApiKey } from './api-key.js';

describe('API keys', () => {
  it('have a prefix, 43 secret symbols and 6 check symbols', () => {
    const key = createApiKey('gpk_');
    expect(key).toMatch(/^gpk_[0-9A-Za-z]{49}$/);
    expect(parseApiKey(key, 'gpk_')).toMatchObject({ prefix: 'gpk_', lastFour: key.slice(-4) });
    expect(parseApiKey(key, 'gpk_')?.hash).toHaveLength(32);
  });

  it('differ from each other', () => {
    const keys = new Set(Array.from({ length: 200 }, () => createApiKey('gpk_')));
    expect(keys.size).toBe(200);
  });

  it('are refused with another prefix, shortened or extended', () => {
    const key = createApiKey('gpk_');
    expect(parseApiKey(key, 'gsk_')).toBeUndefined();
    expect(parseApiKey(key.slice(0, -1), 'gpk_')).toBeUndefined();
    expect(parseApiKey(`${key}0`, 'gpk_')).toBeUndefined();
    expect(parseApiKey('', 'gpk_')).toBeUndefined();
  });

  it('reveal every single changed character', () => {
    const key = createApiKey('gpk_');
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: key.length - 1 }),
        fc.constantFrom('0', '9', 'A', 'Z', 'a', 'z', '_', '-', 'é'),
        (at, symbol) => {
          const changed = key.slice(0, at) + symbol + key.slice(at + 1);
          return changed === key || parseApiKey(changed, 'gpk_') === undefined;
        },
      ),
    );
  });
});
