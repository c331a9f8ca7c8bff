import { describe, expect, it } from 'vitest';
import { matchRedirectUri, redirectUriProblem } from './redirect-uri.js';

describe('addresses that may be registered', () => {
  it.each([
    ['confidential', 'https://client.example/callback'],
    ['confidential', 'https://client.example/callback?tenant=1'],
    ['confidential', 'HTTPS://client.example/callback'],
    ['public', 'http://localhost:5173/callback'],
    ['public', 'http://127.0.0.1/callback'],
    ['native', 'http://[::1]:3000/callback'],
    ['native', 'com.example.app:/callback'],
    ['native', 'com.example.app://callback'],
  ] as const)('%s: %s', (kind, uri) => {
    expect(redirectUriProblem(uri, kind)).toBeUndefined();
  });
});

describe('addresses that may not be registered', () => {
  const schemes = [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://client.example/',
    'vbscript:x',
    'blob:https://client.example/1',
    'ws://client.example/',
    'mailto:a@client.example',
    'intent://client.example/#Intent;end',
    'view-source:https://client.example/',
  ];
  it.each(schemes)('%s, for any kind of application', (uri) => {
    for (const kind of ['confidential', 'public', 'native'] as const) {
      expect(redirectUriProblem(uri, kind)).toEqual(expect.any(String));
    }
  });

  it.each([
    ['confidential', 'http://client.example/callback'],
    ['confidential', 'http://localhost.client.example/callback'],
    ['confidential', 'http://127.0.0.1@client.example/callback'],
    ['confidential', 'http://127.0.0.1.client.example/'],
    ['confidential', 'https://client.example/callback#part'],
    ['confidential', 'https://user:password@client.example/'],
    ['confidential', 'https://*.client.example/'],
    ['confidential', 'https:client.example'],
    ['confidential', '//client.example/'],
    ['confidential', '/callback'],
    ['confidential', ''],
    ['confidential', 'https://client.example/\r\nSet-Cookie: a=b'],
    ['confidential', ' https://client.example/'],
    ['confidential', 'https://client.example/ü'],
    ['confidential', 'https://client.example\\@evil.example/'],
    ['confidential', `https://client.example/${'a'.repeat(2_000)}`],
    ['confidential', 'com.example.app:/callback'],
    ['native', 'myapp:/callback'],
  ] as const)('%s: %s', (kind, uri) => {
    expect(redirectUriProblem(uri, kind)).toEqual(expect.any(String));
  });
});

describe('an address in a request', () => {
  const registered = ['https://client.example/callback', 'http://127.0.0.1/callback', 'http://[::1]:1234/callback?a=1'];
  it('must equal the registered text exactly', () => {
    expect(matchRedirectUri('https://client.example/callback', registered, 'confidential')).toBeDefined();
    for (const near of [
      'https://client.example/callback/',
      'https://client.example/callback?x=1',
      'https://client.example/Callback',
      'https://CLIENT.example/callback',
      'https://client.example:443/callback',
      'https://client.example/callback/../callback',
      'https://client.example/%63allback',
      'https://client.example.evil.example/callback',
      'https://client.example',
    ]) {
      for (const kind of ['confidential', 'public', 'native'] as const) {
        expect(matchRedirectUri(near, registered, kind)).toBeUndefined();
      }
    }
  });

  it('can have any loopback port for a native application, and only there', () => {
    const native = (uri: string): string | undefined => matchRedirectUri(uri, registered, 'native');
    expect(native('http://127.0.0.1:51004/callback')).toBe('http://127.0.0.1:51004/callback');
    expect(native('http://[::1]:9/callback?a=1')).toBeDefined();
    for (const near of [
      'http://127.0.0.1:51004/other',
      'http://127.0.0.1:51004/callback?a=1',
      'http://localhost:51004/callback',
      'http://127.0.0.2:51004/callback',
      'https://127.0.0.1:51004/callback',
      'http://127.0.0.1:51004@evil.example/callback',
      'http://127.0.0.1:999999/callback',
      'http://127.0.0.1:80/callback#x',
    ]) {
      expect(native(near)).toBeUndefined();
    }
    for (const kind of ['confidential', 'public'] as const) {
      expect(matchRedirectUri('http://127.0.0.1:51004/callback', registered, kind)).toBeUndefined();
    }
  });
});
