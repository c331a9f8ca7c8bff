import { describe, expect, it } from 'vitest';
import { isUnspecified, normalHost } from './normal-host.js';

describe('a host', () => {
  it.each([
    [
      '127.0.0.1',
      '127.0.0.1 127.0.0.1. 127.1 127.0.1 2130706433 0x7f.0.0.1 0x7F000001 0177.0.0.1 ::ffff:127.0.0.1 ::FFFF:7f00:1',
    ],
    ['127.0.0.1', '0.0.0.0 0 0x0 ::ffff:0.0.0.0 １２７.0.0.1 127。0。0。1'],
    ['::1', '::1 0:0::1 ::'],
    ['2001:db8::1', '2001:DB8:0::1'],
    ['a.test', 'a.test A.TEST a.test. Ａ.test'],
    ['xn--bcher-kva.de', 'bücher.de BÜCHER.de. xn--bcher-kva.de XN--BCHER-KVA.DE'],
    ['_sip._udp.a-b.test', '_SIP._udp.a-b.test'],
    ['localhost', 'localhost LocalHost.'],
    ['1.2.3.4.test', '1.2.3.4.test'],
  ])('is %s, written as any of %s', (expected, spellings) => {
    for (const spelling of spellings.split(' ')) {
      expect([spelling, normalHost(spelling)]).toEqual([spelling, expected]);
      expect(normalHost(normalHost(spelling) ?? '')).toBe(expected);
    }
  });

  it.each([
    ['', '.', 'a..', ' ', 'a b', 'a\u0000', 'a\r\nb', 'a/b', 'a:1', 'u@a', 'a%2eb', '[::1]', 'a'.repeat(256)],
    ['1.2.3.4.5', '256.1.1.1', 'a.1', '4294967296', '0x100000000', '09.1', '\ud800.test'],
  ])('is null for %j and the like', (...texts) => {
    for (const text of texts) expect([text, normalHost(text)]).toEqual([text, null]);
  });

  it('is unspecified as 0.0.0.0 and ::', () => {
    expect(['0.0.0.0', '::', '::ffff:0.0.0.0', '0:0::'].every(isUnspecified)).toBe(true);
    expect(['127.0.0.1', '::1', '0.0.0.1', 'a.test'].some(isUnspecified)).toBe(false);
  });
});
