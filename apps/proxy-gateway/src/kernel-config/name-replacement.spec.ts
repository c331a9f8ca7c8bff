import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
    ['end end', 'end$', '$1', 'end $1'],
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

  it('leaves names alone that would take too long', () => {
    const name = `${'a'.repeat(299)}!`;
    expect(replaced(name, '(a|a|aa)*(a|aa)*(a|aaa)*b|!', '?')).toBe(name);
  });
});
