import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NamePatternError } from './name-pattern.js';
import { compileNameReplacement } from './name-replacement.js';

const replaced = (name: string, pattern: string, replacement = ''): string =>
  compileNameReplacement(pattern, replacement)(name);

describe('a replacement in names', () => {
  it.each([
    ['🇯🇵 Tokyo 01 [VIP]', String.raw`\s*\[.*?\]`, '', '🇯🇵 Tokyo 01'],
    ['Tokyo tokyo', 'TOKYO', 'Osaka', 'Osaka Osaka'],
    ['a1b22', String.raw`\d+`, '#', 'a#b#'],
    ['Russia US', String.raw`\bUS\b`, 'America', 'Russia America'],
    ['x1 x2', '^x', 'y', 'y1 x2'],
    ['end end', 'end$', '$$1 $', 'end $1 $'],
    ['HK-01 x2', String.raw`(\w+)-(\d+)`, '$2 $1', '01 HK x2'],
    ['🇭🇰 香港 | 01', String.raw`(香港) \| (0?)(\d)`, '$1$3$2', '🇭🇰 香港10'],
    ['aXbX', '(?:(a)|(b))x', '<$1$2>', '<a><b>'],
    ['abab', '(ab)+', '[$1]', '[ab]'],
    ['aaa', 'a*', 'b', 'b'],
    ['abc', 'x*', '-', 'abc'],
    ['香港|01', String.raw`\|`, ' ', '香港 01'],
  ])('%s: %s becomes %s', (name, pattern, replacement, expected) => {
    expect(replaced(name, pattern, replacement)).toBe(expected);
  });

  it('agrees with the engine of the runtime for plain alternatives', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C', ' ', '1'), maxLength: 12 });
    fc.assert(
      fc.property(word, fc.constantFrom('a', 'ab', 'a+', '[ab]', 'c1?', '(ab)+', ' +'), (name, pattern) => {
        expect(replaced(name, pattern, '_')).toBe(name.replaceAll(new RegExp(pattern, 'gi'), '_'));
      }),
    );
  });

  it('takes what groups matched as the engine of the runtime does', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '1', '2', ' '), maxLength: 12 });
    const patterns = ['(a+)(b*)', '(?:(a)|b)(1|2)', '([ab])([12]) ', '^(a|b)(.*)$', '((a)b)1?', '(\\d)(\\d)?'];
    fc.assert(
      fc.property(word, fc.constantFrom(...patterns), (name, pattern) => {
        const expected = name.replaceAll(new RegExp(pattern, 'giu'), '<$1>$$');
        expect(replaced(name, pattern, '<$1>$$')).toBe(expected);
      }),
    );
  });

  it('refuses a replacement that names a group which the pattern does not have', () => {
    expect(() => compileNameReplacement('(?:a)(b)', '$2')).toThrow(NamePatternError);
  });

  it('leaves names alone that would take too long', () => {
    const name = `${'a'.repeat(299)}!`;
    expect(replaced(name, '(a|a|aa)*(a|aa)*(a|aaa)*b|!', '?')).toBe(name);
  });
});
