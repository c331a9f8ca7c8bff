import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GramFilter, gramsOfKeyword } from './search-grams.js';

const mayHold = (text: string, keyword: string): boolean => {
  const filter = new GramFilter();
  filter.add(text);
  return gramsOfKeyword(keyword).every((bit) => ((filter.bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);
};

describe('pieces of text', () => {
  it('never rule out a text that contains the keyword', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', '.', '1', '_', '香', '港', '🇭', '🇰', ' '),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, fc.string({ minLength: 1, maxLength: 40 }), text, (start, keyword, end) => {
        expect(mayHold(start + keyword + end, keyword)).toBe(true);
      }),
    );
  });

  it.each([
    ['example.com', 'example.org'],
    ['203.0.113.19', '203.0.113.9'],
    ['hong kong 12', 'kong 13'],
    ['香港 01', '港 02'],
    ['ab', 'c'],
    ['ab', 'ba'],
    ['abab', 'bb'],
  ])('rule out that %j holds %j', (text, keyword) => {
    expect(mayHold(text, keyword)).toBe(false);
  });

  it('fill a part of the filter that follows their number', () => {
    const filter = new GramFilter();
    expect(filter.fill).toBe(0);
    filter.add('example.com');
    const { fill } = filter;
    filter.add('example.com');
    expect(filter.fill).toBe(fill);
    for (let index = 0; index < 2_000; index++) filter.add(`h${index}.example.com`);
    expect(filter.fill).toBeGreaterThan(fill * 10);
    expect(filter.fill).toBeLessThan(0.2);
  });

  it('check a bounded number of grams', () => {
    const long = Array.from({ length: 200 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    expect(gramsOfKeyword(long)).toHaveLength(12);
    expect(mayHold(`x${long}`, long)).toBe(true);
    expect(gramsOfKeyword('')).toEqual([]);
  });
});
