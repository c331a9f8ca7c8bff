import { describe, expect, it } from 'vitest';
import { compileNamePattern, NamePatternError } from './name-pattern.js';

const matches = (pattern: string, name: string): boolean => compileNamePattern(pattern).test(name);

describe('compileNamePattern', () => {
  it.each([
    ['HK|Hong Kong|香港', '🇭🇰 香港 01'],
    ['HK|Hong Kong|香港', 'hong kong 2'],
    ['(?i)^jp-\\d+$', 'JP-12'],
    ['🇯🇵', '🇯🇵 Tokyo'],
    ['[东西]京', '西京'],
    ['^(?:US|UK)[ _-]?\\d{2,3}$', 'uk_07'],
    ['x*y+z?$', 'yyyz'],
    ['\\bIEPL\\b', 'HK IEPL 1'],
    ['\\p{Script=Han}{2}', 'ab 东京'],
    ['a.c', 'a🇯c'],
    ['1\\.5x', 'rate 1.5X'],
    ['', 'anything'],
    ['a{3}', 'baaab'],
    ['(a|)b', 'b'],
    ['[^a-c]', 'abcd'],
    [']', 'a]b'],
    ['\\-\\ ', 'a- b'],
  ])('%s is in %s', (pattern, name) => {
    expect(matches(pattern, name)).toBe(true);
  });

  it.each([
    ['^jp$', 'jp1'],
    ['a{3}', 'aaba'],
    ['\\bHK\\b', 'HKG'],
    ['[^a-c]', 'abc'],
    ['a.c', 'ac'],
    ['1\\.5', '125'],
  ])('%s is not in %s', (pattern, name) => {
    expect(matches(pattern, name)).toBe(false);
  });

  it.each(['(', ')', '*', 'a**', '(?=a)', '(?<!a)b', '(a)\\1', 'a{2,1}', 'a{101}', '[', '\\p{Nope}', '^*'])(
    'refuses %j',
    (pattern) => {
      expect(() => compileNamePattern(pattern)).toThrow(NamePatternError);
    },
  );

  it('refuses what becomes too large', () => {
    expect(() => compileNamePattern('((a{100}){100}){100}')).toThrow('too large');
    expect(() => compileNamePattern('a'.repeat(513))).toThrow('longer');
    expect(() => compileNamePattern('('.repeat(40) + 'a' + ')'.repeat(40))).toThrow('groups');
  });

  it('takes no longer for what makes backtracking engines hang', () => {
    const pattern = compileNamePattern('^(a+)+$|(a|aa)+$|(.*a){20}$');
    const started = performance.now();
    expect(pattern.test(`${'a'.repeat(299)}!`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
