import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeywordAutomaton } from './keyword-automaton.js';

const build = (keywords: string[]) => new KeywordAutomaton(keywords.map((keyword, rule) => ({ keyword, rule })));
const all = () => true;

describe('keyword automaton', () => {
  it('finds keywords inside keywords', () => {
    const automaton = build(['google', 'oog', 'gle.c', 'goog', 'google']);
    expect(automaton.find('www.google.com', 0, 9, all)).toBe(0);
    expect(automaton.find('www.google.com', 1, 9, all)).toBe(1);
    expect(automaton.find('www.google.com', 0, 9, (rule) => rule > 2)).toBe(3);
    expect(automaton.find('www.google.com', 4, 9, all)).toBe(4);
    expect(automaton.find('goo.gl', 0, 9, all)).toBe(9);
    expect(automaton.find('例ooog', 0, 9, all)).toBe(1);
  });

  it('is empty without entries', () => {
    expect(build([]).find('example.com', 0, 5, all)).toBe(5);
  });

  it('agrees with String.includes', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'c', '.'), { minLength: 1, maxLength: 8 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 30 }),
        text,
        fc.nat(20),
        fc.integer({ min: 1, max: 3 }),
        (keywords, host, from, step) => {
          const accept = (rule: number) => rule % step === 0;
          const expected = keywords.findIndex(
            (keyword, rule) => rule >= from && accept(rule) && host.includes(keyword),
          );
          expect(build(keywords).find(host, from, 99, accept)).toBe(expected < 0 ? 99 : expected);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('returns keywords that do not fit, so that memory stays bounded', () => {
    const keywords = Array.from(
      { length: 40_000 },
      (_, i) => `${(i * 7919).toString(36)}-${'x'.repeat(20)}${i.toString(36)}`,
    );
    const automaton = build(keywords);
    expect(automaton.overflow.length).toBeGreaterThan(0);
    expect(automaton.bytes).toBeLessThan(20_000_000);
    const held = keywords.length - automaton.overflow.length;
    const kept = new Set(automaton.overflow.map((entry) => entry.rule));
    const first = keywords.findIndex((_, rule) => !kept.has(rule));
    expect(held).toBeGreaterThan(1000);
    expect(automaton.find(keywords[first] ?? '', 0, 1e6, all)).toBe(first);
    // More states than two bytes can number.
    for (let rule = 0; rule < keywords.length; rule += 997) {
      if (kept.has(rule)) continue;
      const host = `a.${keywords[rule]}.test`;
      expect(automaton.find(host, 0, 1e6, all)).toBe(
        keywords.findIndex((keyword, i) => !kept.has(i) && host.includes(keyword)),
      );
      expect(automaton.find(host.slice(0, -7), 0, 1e6, (found) => found === rule)).toBe(1e6);
    }
  });
});
