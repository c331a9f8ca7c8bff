import { describe, expect, it } from 'vitest';
import { countryChoices } from './countries.js';

describe('the list of countries', () => {
  it('has every country of ISO 3166-1 once, by its name in the language', () => {
    const english = countryChoices('en');
    expect(english).toHaveLength(249);
    expect(english[0]).toEqual({ value: 'AF', label: 'Afghanistan (AF)' });
    expect(new Set(english.map(({ value }) => value)).size).toBe(249);
    expect(countryChoices('zh-CN').find(({ value }) => value === 'DE')).toEqual({ value: 'DE', label: '德国 (DE)' });
  });
});
