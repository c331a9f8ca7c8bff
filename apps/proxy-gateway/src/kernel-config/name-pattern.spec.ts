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
    expect(() => compileNamePattern('a'.repeat(2_049))).toThrow('longer');
    expect(() => compileNamePattern('('.repeat(40) + 'a' + ')'.repeat(40))).toThrow('groups');
  });

  it('stays fast for patterns that make backtracking engines hang', () => {
    const pattern = compileNamePattern('^(a+)+$|(a|aa)+$|(.*a){20}$');
    const started = performance.now();
    expect(pattern.test(`${'a'.repeat(299)}!`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it.each(['(?:(?:.?){30}){30}z', '(?:(?:.?){20}){10}z', '(?:[a-e]|[^f])*a(?:[a-e]|[^f]){60}z'])(
    '%s over thousands of long names blocks nothing',
    (text) => {
      // Processor time rather than wall-clock time, since other tests run in parallel. Without the bound this takes 14
      // seconds or more.
      const before = process.cpuUsage();
      try {
        const pattern = compileNamePattern(text);
        let matches = 0;
        for (let i = 0; i < 5_000; i++) if (pattern.test(letters(i))) matches++;
        expect(matches).toBe(0);
      } catch (error) {
        expect(error).toBeInstanceOf(NamePatternError);
      }
      expect(process.cpuUsage(before).user).toBeLessThan(4_000_000);
    },
  );

  it('reads long names to the end with common patterns', () => {
    const pattern = compileNamePattern('^(?:HK|JP|香港).*\\b(?:x[2-9]|IEPL|\\d{2,3})\\b.*(?:end|终)$');
    for (let i = 10; i < 3_000; i++) expect(pattern.test(`JP ${letters(i)} ${String(i).slice(0, 3)} - end`)).toBe(true);
  });
});

/** A name of 250 letters, different for each seed. */
function letters(seed: number): string {
  let [state, name] = [seed + 1, ''];
  for (let i = 0; i < 250; i++) {
    state = (state * 48_271) % 2_147_483_647;
    name += 'abcde'.charAt(state % 5);
  }
  return name;
}
