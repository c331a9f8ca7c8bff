import { describe, expect, it } from 'vitest';
import { countryChoices, countryName } from './countries.js';

describe('the list of countries', () => {
  it('has every country of ISO 3166-1 once, by its name in the language', () => {
    const english = countryChoices('en');
    expect(english).toHaveLength(249);
    expect(english[0]).toEqual({ value: 'AF', label: 'Afghanistan (AF)' });
    expect(new Set(english.map(({ value }) => value)).size).toBe(249);
    expect(countryChoices('zh-CN').find(({ value }) => value === 'DE')).toEqual({ value: 'DE', label: '德国 (DE)' });
  });

  it('names a country in the language of the reader, and shows what is none as it is', () => {
    expect(countryName('DE', 'en')).toBe('Germany');
    expect(countryName('DE', 'zh-CN')).toBe('德国');
    for (const code of ['ZZ', 'D', '']) expect(countryName(code, 'en')).toBe(code);
  });
});
