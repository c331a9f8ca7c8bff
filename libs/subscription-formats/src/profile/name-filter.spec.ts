import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNameTest } from './name-filter.js';

/** What a test says of a name, with the engine of the runtime for its parts. */
function fits(pattern: string, name: string): boolean | null {
  const test = readNameTest(pattern);
  if (test === null) return null;
  const flags = test.ignoreCase ? 'iu' : 'u';
  const occurs = (part: string): boolean => new RegExp(part, flags).test(name);
  return test.all.every(occurs) && !test.none.some(occurs);
}

/** What the pattern says itself. */
function direct(pattern: string, name: string): boolean {
  const ignoreCase = pattern.includes('(?i)');
  return new RegExp(pattern.replaceAll('(?i)', ''), ignoreCase ? 'iu' : 'u').test(name);
}

const PATTERNS = [
  '',
  'HK',
  '(?i)港|hk|hongkong',
  '^(?!.*(官网|套餐|流量)).*$',
  '^(?!.*(官网|套餐|流量)).*',
  '^((?!(官网|套餐)).)*$',
  '(?=.*(港|HK))^((?!(台|日)).)*$',
  '^(?=.*(港|HK))(?!.*(x|y)).*$',
  '^(?=.*((?i)🇭🇰|香港|\\b(HK|Hong)\\b)).*$',
  '(?=.*(日本|JP))',
  '^(?!.*(a|b))(?=.*c).*d$',
  '^(?=HK)(?!.*5).*$',
  '^(?!.*[)(]).*x',
];
const NAMES = [
  'HK 1',
  'hk',
  '香港 01 x',
  '🇭🇰 HK',
  '日本 JP 台',
  '官网 example',
  '套餐到期',
  '',
  'cd',
  'acd',
  'HK5',
  '港台',
  'x)',
];

describe('patterns with look-ahead', () => {
  it.each(PATTERNS)('%s means the same taken apart', (pattern) => {
    for (const name of NAMES) expect([name, fits(pattern, name)]).toEqual([name, direct(pattern, name)]);
  });

  it.each(['(?<=x)y', 'a(?=b)c', '^(?!a(?!b)).*$', '(?!.*x).*', 'a'.repeat(3_000)])(
    '%s is not read rather than misread',
    (pattern) => expect(readNameTest(pattern)).toBeNull(),
  );

  it('means the same for any words and any name, or is not read', () => {
    const word = fc.stringMatching(/^[ab港1]{1,3}$/);
    const piece = fc.oneof(
      fc.tuple(word, word).map(([a, b]) => `(?=.*(${a}|${b}))`),
      fc.tuple(word, word).map(([a, b]) => `(?!.*(${a}|${b}))`),
      word.map((a) => `(?!${a})`),
    );
    const end = fc.constantFrom('', '.*', '.*$', '((?!(1)).)*$', '((?!1).)*', 'a', 'b$');
    const pattern = fc
      .tuple(fc.constantFrom('', '^'), fc.array(piece, { maxLength: 3 }), fc.constantFrom('', '^'), end)
      .map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(pattern, fc.stringMatching(/^[ab港1]{0,6}$/), (text, name) => {
        const answer = fits(text, name);
        return answer === null || answer === direct(text, name);
      }),
      { numRuns: 2_000 },
    );
  });
});
