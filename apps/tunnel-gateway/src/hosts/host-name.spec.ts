import { describe, expect, it } from 'vitest';
import { parseHostName, parseLocation } from './host-name.js';

describe('names of hosts', () => {
  it.each([
    ['App.Example.ORG.', 'app.example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.Example.org', '*.example.org'],
    ['*', '*'],
    ['localhost', 'localhost'],
  ])('%s is %s', (text, expected) => expect(parseHostName(text)).toBe(expected));

  it.each(['', 'a..b', '*.', '**.a', 'a.*.b', '*a.b', '10.0.0.1', '::1', 'a:80', 'a b', '-a.b', 'a.1', 'a/b'])(
    'refuses "%s"',
    (text) => expect(() => parseHostName(text)).toThrow(RangeError),
  );
});

describe('locations', () => {
  it.each([
    ['/', '/'],
    ['/api/', '/api'],
    ['//a///b', '/a/b'],
    ['/%7Euser', '/~user'],
  ])('%s is %s', (text, expected) => expect(parseLocation(text)).toBe(expected));

  it.each(['', 'api', '/..', '/a/../b', '/./a', '/a%2fb', '/a%5Cb', '/%00', '/a?b', '/a#b', '/a b', '/%', '/a\\b'])(
    'refuses "%s"',
    (text) => expect(() => parseLocation(text)).toThrow(RangeError),
  );
});
