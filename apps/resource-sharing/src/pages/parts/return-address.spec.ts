import { describe, expect, it } from 'vitest';
import { formTargetsOf, isAuthorizePath, loginPath, ownPath } from './return-address.js';

describe('ownPath', () => {
  it.each(['/', '/account', '/openapi/authorize?client_id=a&redirect_uri=https%3A%2F%2Fa.example%2F&state=%2F%2Fx'])(
    'accepts %s',
    (path) => expect(ownPath(path)).toBe(path),
  );

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/\t/evil.example',
    '/\n/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    'javascript:alert(1)',
    'account',
    '',
    '/ü',
    '/a b',
    `/${'a'.repeat(8_000)}`,
    undefined,
    ['/account'],
  ])('refuses %j', (text) => expect(ownPath(text)).toBeUndefined());
});

it('the login page keeps the address to return to', () => {
  expect(loginPath('/a?b=c&d')).toBe('/login?return_to=%2Fa%3Fb%3Dc%26d');
  expect(loginPath('/')).toBe('/login');
  expect(loginPath(undefined, '/register')).toBe('/register');
});

it('pages of the authorization are recognized', () => {
  expect(['/openapi/authorize', '/oauth2/authorize?a=b'].map(isAuthorizePath)).toEqual([true, true]);
  expect(['/openapi/authorized', '/account', '/x/oauth2/authorize'].map(isAuthorizePath)).toEqual([
    false,
    false,
    false,
  ]);
});

it('forms may redirect to the application that is waiting', () => {
  expect(formTargetsOf('https://a.example/b')).toBe('https:');
  expect(formTargetsOf('http://127.0.0.1:9/b')).toBe('https: http:');
  expect(formTargetsOf('com.example.app:/back')).toBe('https: com.example.app:');
  expect(formTargetsOf("'unsafe-inline'; script-src *")).toBe('https:');
  expect(formTargetsOf(undefined)).toBe('https:');
});
