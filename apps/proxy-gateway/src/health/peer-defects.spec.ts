import { describe, expect, it } from 'vitest';
import { guessCountry } from '../nodes/guess-country.js';
import { PREFERENCES } from '../preferences/preference-definitions.js';

/**
 * Defects of well-known programs that must not occur here, in countries and speed tests. Properties of the window that
 * bounds tests of many nodes are in the kernel's `sliding-window.spec.ts`.
 */
describe('peer defects', () => {
  it('9: Cambodia is not taken for Kyrgyzstan', () => {
    const nowhere = (): null => null;
    expect(guessCountry('🇰🇭 01', 'node.example', nowhere)).toMatchObject({ country: 'KH' });
    expect(guessCountry('🇰🇬 01', 'node.example', nowhere)).toMatchObject({ country: 'KG' });
  });

  it('10: a test may take longer than 32,767 ms', () => {
    expect(PREFERENCES['health.timeout_ms'].parse('40000')).toBe(40_000);
  });
});
