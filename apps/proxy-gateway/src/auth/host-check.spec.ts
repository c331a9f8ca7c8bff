import { describe, expect, it } from 'vitest';
import { isOwnHost } from './host-check.js';

const known = new Set(['gateway.home.example']);

describe('isOwnHost', () => {
  it.each(['localhost', 'LOCALHOST:8080', 'a.localhost', 'localhost.', '127.0.0.1:8080', '10.1.2.3', '[::1]:8080'])(
    '%s is',
    (host) => expect(isOwnHost(host, known)).toBe(true),
  );
  it('accepts a configured name in any letter case', () =>
    expect(isOwnHost('Gateway.Home.Example:80', known)).toBe(true));
  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'x@localhost', 'localhost/a', '', ' '])(
    '%j is not',
    (host) => expect(isOwnHost(host, known)).toBe(false),
  );
  it('refuses a missing name', () => expect(isOwnHost(undefined, known)).toBe(false));
});
