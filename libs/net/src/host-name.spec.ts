import { expect, it } from 'vitest';
import { asHostName, formatAuthority, formatHostPort } from './host-name.js';

it('an IPv6 address is in brackets before its port', () => {
  expect(formatHostPort('a.test', 443)).toBe('a.test:443');
  expect(formatHostPort('2001:db8::1', 443)).toBe('[2001:db8::1]:443');
});

it('an authority has no port if it is the default of the scheme', () => {
  expect(formatAuthority('a.test', 443, true)).toBe('a.test');
  expect(formatAuthority('a.test', 443, false)).toBe('a.test:443');
  expect(formatAuthority('::1', 80, false)).toBe('[::1]');
});

it.each([
  ['A.Test.', 'a.test'],
  ['_sip._udp.a-b', '_sip._udp.a-b'],
  ['a..b', null],
  ['a b', null],
  ['', null],
  ['a'.repeat(254), null],
])('the host name of "%s" is %s', (text, name) => expect(asHostName(text)).toBe(name));
