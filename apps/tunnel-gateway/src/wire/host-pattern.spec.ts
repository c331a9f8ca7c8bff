import { describe, expect, it } from 'vitest';
import { covers, parseHostPattern, parseLocation } from './host-pattern.js';

describe('names of hosts', () => {
  it.each([
    ['App.Example.ORG.', 'app.example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.Example.org', '*.example.org'],
    ['*', '*'],
    ['localhost', 'localhost'],
  ])('%s is stored as %s', (text, expected) => expect(parseHostPattern(text)).toBe(expected));

  it.each(['', 'a..b', '*.', '**.a', 'a.*.b', '*a.b', '10.0.0.1', '::1', 'a:80', 'a b', '-a.b', 'a.1', 'a/b'])(
    'refuses "%s"',
    (text) => expect(() => parseHostPattern(text)).toThrow(RangeError),
  );
});

it('a host covers either its own name or all names below it', () => {
  expect(covers('a.example', 'a.example')).toBe(true);
  expect(covers('*.example', 'b.a.example')).toBe(true);
  expect(covers('*', 'a')).toBe(true);
  for (const host of ['example', '*.a.example', '*.xample', 'b.a.example'])
    expect(covers(host, 'a.example')).toBe(false);
});

describe('locations', () => {
  it.each([
    ['/', '/'],
    ['/api/', '/api'],
    ['//a///b', '/a/b'],
    ['/%7Euser', '/~user'],
  ])('%s is stored as %s', (text, expected) => expect(parseLocation(text)).toBe(expected));

  it.each(['/100%25', '/a%20b', '/a%3fb', '/a%23b', '/%2541', '/b%C3%BCcher', '/bücher'])(
    '%s does not change when it is parsed again',
    (text) => {
      const location = parseLocation(text);
      expect(parseLocation(location)).toBe(location);
      expect(decodeURIComponent(location)).toBe(decodeURIComponent(text));
    },
  );

  it.each(['', 'api', '/..', '/a/../b', '/./a', '/a%2fb', '/a%5Cb', '/%00', '/a?b', '/a#b', '/a b', '/%', '/a\\b'])(
    'refuses "%s"',
    (text) => expect(() => parseLocation(text)).toThrow(RangeError),
  );
});
