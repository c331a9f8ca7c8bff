import { describe, expect, it } from 'vitest';
import { VISIBLE_NAME, visibleName } from './visible-name.js';

describe('the visible name of an application', () => {
  it.each(['Player', 'Größe 2', '影院', 'پخش', 'Film & <more>', '▶️ Player', 'Family 👨‍👩‍👧', '🏴󠁧󠁢󠁥󠁮󠁧󠁿 Cup', 'Tea time'])(
    '%j is valid',
    (name) => {
      expect(VISIBLE_NAME.test(name)).toBe(true);
      expect(visibleName(name)).toBe(name);
    },
  );

  it.each([
    ['turned around', '\u202egnp.exe', '\ufffdgnp.exe'],
    ['isolated', '\u2066a\u2069', '\ufffda\ufffd'],
    ['with a mark of direction', 'a\u200fb', 'a\ufffdb'],
    ['with a space of no width', 'Admin\u200b', 'Admin\ufffd'],
    ['with a joiner between letters', 'Ad\u200dmin', 'Ad\ufffdmin'],
    ['with a soft hyphen', 'Ad\u00admin', 'Ad\ufffdmin'],
    ['with a byte order mark', '\ufeffAdmin', '\ufffdAdmin'],
    ['with a filler', 'Admin\u3164', 'Admin\ufffd'],
    ['with an empty Braille cell', 'Admin\u2800', 'Admin\ufffd'],
    ['with tags', 'a\u{e0041}', 'a\ufffd'],
    ['of two lines', 'a\u2028b', 'a\ufffdb'],
    ['with a control character', 'a\u0007b', 'a\ufffdb'],
    ['with half a character', 'a\ud800b', 'a\ufffdb'],
  ])('%s is not valid, and its invisible characters are shown', (_what, name, shown) => {
    expect(VISIBLE_NAME.test(name)).toBe(false);
    expect(visibleName(name)).toBe(shown);
  });

  it.each(['', ' ', '\u00a0\u3000'])('%j is empty', (name) => {
    expect(VISIBLE_NAME.test(name)).toBe(false);
  });
});
