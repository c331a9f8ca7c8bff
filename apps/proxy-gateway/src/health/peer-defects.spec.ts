import { describe, expect, it } from 'vitest';
import { guessCountry } from '../nodes/guess-country.js';
import { PREFERENCES } from '../preferences/preference-definitions.js';

/**
 * What well-known programs get wrong, section 1.4 of the peer study, by its numbers: those of countries and speed tests.
 * The window that bounds tests of many nodes has its properties in the kernel's `sliding-window.spec.ts`.
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
