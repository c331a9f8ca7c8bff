import { describe, expect, it } from 'vitest';
import { readTarget } from './request-target.js';

/** A character for each byte, as parsers deliver them. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

describe('UTF-8 in the target of a request', () => {
  it('is escaped for the target and decoded for comparison, like the same in escapes', () => {
    const plain = readTarget(bytes('/café/日本?q=é'));
    expect(plain).toEqual({
      path: bytes('/café/日本'),
      forward: '/caf%C3%A9/%E6%97%A5%E6%9C%AC?q=%C3%A9',
      ambiguous: false,
    });
    expect(readTarget('/caf%C3%A9/%E6%97%A5%E6%9C%AC?q=%C3%A9')).toEqual(plain);
  });

  it('does not hide dot segments and slashes', () => {
    expect(readTarget(bytes('/é/../b//./c'))?.forward).toBe('/b/c');
    expect(readTarget(bytes('/é/%2e%2e/%2e%2e/b'))).toBeNull();
    expect(readTarget(bytes('/é%2fb'))?.ambiguous).toBe(true);
  });

  it.each([
    ['a byte that begins no character', '/\xe9'],
    ['a character that is cut off', '/\xc3?q'],
    ['a slash in two bytes', '/\xc0\xaf..'],
    ['half of a surrogate pair', '/\xed\xa0\x80'],
    ['a control character beside it', `${bytes('/é')}\x7f`],
    ['an invalid escape beside it', bytes('/é%')],
    ['an escaped NUL beside it', bytes('/é%00')],
  ])('is refused with %s', (_, target) => {
    expect(readTarget(target)).toBeNull();
  });
});
