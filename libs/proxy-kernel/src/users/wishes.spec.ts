import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Wishes } from '../interfaces/index.js';
import { WishError, parseWishes, printWishes } from './wishes.js';

const SECONDS = 1000;

describe('the wishes behind a user name', () => {
  it('are read in any order', () => {
    expect(parseWishes('session-a1-country-JP-ttl-90s')).toEqual({
      country: 'jp',
      session: 'a1',
      ttlMs: 90 * SECONDS,
    });
    expect(parseWishes('group-My%20group-node-%F0%9F%87%AF%F0%9F%87%B5%20Tokyo%2D1')).toEqual({
      group: 'My group',
      node: '🇯🇵 Tokyo-1',
    });
  });

  it.each([
    ['city-tokyo', '"city" is none of country, group, node, session, ttl'],
    ['', '"" is none of'],
    ['__proto__-x', '"__proto__" is none of'],
    ['country', 'country has no value'],
    ['country--session-a', 'country has no value'],
    ['country-jpn', 'country takes a code of two letters'],
    ['country-jp-country-us', 'country is given twice'],
    ['node-%zz', 'node is not percent-encoded as UTF-8'],
    [`group-${'g'.repeat(129)}`, 'group takes at most 128 characters'],
    [`session-${'s'.repeat(65)}`, 'session takes at most 64 characters'],
    ['ttl-10m', 'ttl needs a session'],
    ['session-a-ttl-0s', 'ttl takes 1s to 24h'],
    ['session-a-ttl-25h', 'ttl takes 1s to 24h'],
    ['session-a-ttl-10', 'ttl takes 1s to 24h'],
  ])('%j is refused with its reason', (text, reason) => {
    expect(() => parseWishes(text)).toThrow(WishError);
    expect(() => parseWishes(text)).toThrow(reason);
  });

  it('read as they were written', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    const place = fc.record(
      { country: fc.stringMatching(/^[a-z]{2}$/), group: value, node: value, session: value },
      { requiredKeys: [] },
    );
    const ttlMs = fc.option(fc.integer({ min: 1, max: 86_400 }), { nil: undefined });
    const wishes = fc.tuple(place, ttlMs).filter(([{ country, group, node, session }]) => {
      return [country, group, node, session].some((each) => each !== undefined);
    });
    fc.assert(
      fc.property(wishes, ([asked, ttl]) => {
        const hasTtl = asked.session !== undefined && ttl !== undefined;
        const all: Wishes = { ...asked, ...(hasTtl && { ttlMs: ttl * SECONDS }) };
        const printed = printWishes(all);
        expect(parseWishes(printed)).toEqual(all);
        expect(printed).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });

  it('are read or refused with a reason, whatever the text is', () => {
    const part = fc.constantFrom('country', 'group', 'node', 'session', 'ttl', 'jp', '10m', '9', '%41', '%', '');
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 3 })), { maxLength: 8 }), (parts) => {
        try {
          const wishes = parseWishes(parts.join('-'));
          expect(parseWishes(printWishes(wishes))).toEqual(wishes);
        } catch (error) {
          expect(error).toBeInstanceOf(WishError);
        }
      }),
    );
  });
});
