import { describe, expect, it } from 'vitest';
import { COUNTRY_CODES, countryName, flagOf } from '../data/country-names.js';
import { countryInName } from './country-in-name.js';
import { guessCountry } from './guess-country.js';

describe('countryInName', () => {
  it.each([
    ['🇯🇵 Premium 01', 'JP'],
    ['🇰🇭 Phnom Penh', 'KH'],
    ['🇺🇸🇯🇵 relay', 'US'],
    ['Hong Kong 03', 'HK'],
    ['香港 IEPL 02', 'HK'],
    ['台湾-BGP', 'TW'],
    ['日本东京 1', 'JP'],
    ['Los Angeles x2', 'US'],
    ['Germany | Frankfurt', 'DE'],
    ['South Korea 1', 'KR'],
    ['Romania', 'RO'],
    ['Россия', 'RU'],
    ['SG-01', 'SG'],
    ['UK London', 'GB'],
    ['uk_01 US', 'US'],
    ['[DE] node', 'DE'],
    ['India 5', 'IN'],
    ['IN-05', 'IN'],
  ])('%s → %s', (name, country) => {
    expect(countryInName(name)).toBe(country);
  });

  it.each(['node 1', 'NO.7', 'tcp ws tls', 'Romanian', 'best PM', '🏳️ flagless', '🇦 lone', '', 'ABUSE', 'VIP'])(
    '%j names none',
    (name) => {
      expect(countryInName(name)).toBeNull();
    },
  );

  it('finds every country by its flag and by its English name', () => {
    expect(COUNTRY_CODES.length).toBeGreaterThan(240);
    for (const code of COUNTRY_CODES) {
      expect(countryInName(`${flagOf(code)} 1`)).toBe(code);
      expect(countryInName(`${countryName(code)} 1`), countryName(code)!).toBe(code);
    }
  });
});

describe('guessCountry', () => {
  const lookup = (ip: string): string | null => (ip === '203.0.113.9' ? 'NL' : null);

  it('prefers the address of the server to its name', () => {
    expect(guessCountry('🇯🇵 Tokyo', '203.0.113.9', lookup)).toEqual({ country: 'NL', source: 'server_ip' });
  });

  it('falls back to the name, then to no country', () => {
    expect(guessCountry('🇯🇵 Tokyo', '203.0.113.10', lookup)).toEqual({ country: 'JP', source: 'name' });
    expect(guessCountry('🇯🇵 Tokyo', 'jp.example.com', lookup)).toEqual({ country: 'JP', source: 'name' });
    expect(guessCountry('one', '203.0.113.10', lookup)).toEqual({ country: null, source: 'none' });
  });
});
