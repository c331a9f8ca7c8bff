import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countryChoices } from '../format/countries.js';
import { hasFlag, partsOf } from './flag-codes.js';

describe('flags', () => {
  it('are drawn for the codes that say so, and for no others', () => {
    const drawn = readFileSync(new URL('../flags.svg', import.meta.url), 'utf8').matchAll(/<symbol id="(\w+)"/g);
    const ids = [...drawn].map((match) => match[1] ?? '');
    expect(ids.filter((id) => !hasFlag(id))).toEqual([]);
    const known = countryChoices('en').map(({ value }) => value);
    expect(known.filter(hasFlag).toSorted()).toEqual(ids.toSorted());
  });

  it('are found in names, where only some systems draw them', () => {
    expect(partsOf('🇯🇵 Tokyo 🇺🇸')).toEqual([{ flag: 'JP' }, ' Tokyo ', { flag: 'US' }]);
    expect(partsOf('Tokyo')).toEqual(['Tokyo']);
    // None is drawn of it: its letters stand for it.
    expect(partsOf('🇦🇶 Pole')).toEqual([{ flag: 'AQ' }, ' Pole']);
  });
});
