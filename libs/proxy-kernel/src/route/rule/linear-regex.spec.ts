import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLinearRegex } from './linear-regex.js';
import { RuleError } from './rule-error.js';

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '\\.',
  '[ab]',
  '[^a]',
  '[a-c]',
  '\\d',
  '\\w',
  '\\W',
  '-',
  '1',
  'A',
  '[A-B1]',
  '\\-',
);
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    atom,
    fc.constantFrom('^', '$', '\\b', '\\B', ''),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(${a}|${b})`),
    fc
      .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?', '{0}'))
      .map(([inner, quantifier]) => `(?:${inner})${quantifier}`),
  ),
})).node;
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '.', '-', '1', '_'), { maxLength: 8 })
  .map((parts) => parts.join(''));

describe('linear regex', () => {
  it('agrees with RegExp on patterns that both accept', () => {
    let matches = 0;
    fc.assert(
      fc.property(
        pattern.filter((source) => source !== ''),
        fc.array(text, { minLength: 1, maxLength: 5 }),
        (source, texts) => {
          const mine = compileLinearRegex(source);
          const native = new RegExp(source, 'i');
          for (const one of texts) {
            expect(mine.test(one), `${source} on ${one}`).toBe(native.test(one));
            if (native.test(one)) matches++;
          }
        },
      ),
      { numRuns: 4000 },
    );
    expect(matches).toBeGreaterThan(1000);
  });

  it.each([
    ['^ads?\\d{1,3}\\.', 'ad12.example.com', true],
    ['^ads?\\d{1,3}\\.', 'bad12.example.com', false],
    ['(^|\\.)(foo|bar)\\.com$', 'x.bar.com', true],
    ['(?<name>x)y', 'axyb', true],
    ['[]', 'a', false],
    ['[^]', 'a', true],
    ['[a\\]-]', 'x]', true],
    ['a{,3}', 'a{,3}', true],
    ['GOOGLE', 'google.com', true],
  ])('%s on %s: %s', (source, one, expected) => {
    expect(compileLinearRegex(source).test(one)).toBe(expected);
  });

  it.each([
    '',
    '(',
    ')',
    'a)',
    '[a',
    '*a',
    'a**',
    'a++',
    '^*',
    '\\',
    '\\1',
    '\\p{L}',
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(?i)a',
    'a{3,2}',
    'a{256}',
    '[b-a]',
    '[\\d-z]',
    'é',
    'a b',
    '((a{255}){255}){255}',
    `${'('.repeat(40)}a${')'.repeat(40)}`,
    'a'.repeat(513),
  ])('refuses %j', (source) => {
    expect(() => compileLinearRegex(source)).toThrow(RuleError);
  });

  it('accepts nested empty groups without wasting time or memory', () => {
    expect(compileLinearRegex('(((((){255}){255}){255}){255}){255}').test('a')).toBe(true);
  });

  it('is not slowed down by patterns that stop a backtracking engine', () => {
    const host = `${'a'.repeat(60)}.${'a'.repeat(60)}.${'a'.repeat(60)}.${'a'.repeat(60)}!`;
    const sources = ['^(a+)+$', '(a|aa)+$', '(.*a){20}b', '^(\\w+\\.?)*$', '(a*)*b', '.*.*.*.*.*.*c'];
    const started = performance.now();
    for (const source of sources) expect(compileLinearRegex(source).test(host)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
