import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostConfig } from '../config.js';
import { readAuthority } from './authority.js';
import { HostRouter, type VisitorScheme } from './host-router.js';
import { readLocation, readTarget } from './request-target.js';

function host(id: number, name: string, location = '/', scheme: HostConfig['scheme'] = 'all'): HostConfig {
  return {
    id,
    clientId: 1,
    host: name,
    location,
    scheme,
    targets: [],
    certificate: null,
    redirectToHttps: false,
    rewriteHost: null,
    requestHeaders: {},
    responseHeaders: {},
  };
}

/** Section 2.6 of the references, word for word: every match, the best one first. */
function naive(hosts: HostConfig[], name: string, path: string, scheme: VisitorScheme): number | null {
  const rank = (pattern: string): number => {
    if (pattern === name) return 100_000;
    if (pattern === '*') return 1;
    return pattern.startsWith('*.') && name.endsWith(pattern.slice(1)) && name.length >= pattern.length
      ? 1 + pattern.length
      : 0;
  };
  const covers = (location: string): boolean => {
    const trimmed = readLocation(location) ?? '?';
    return trimmed === '/' || path === trimmed || path.startsWith(`${trimmed}/`);
  };
  const matching = hosts
    .filter((one) => rank(one.host) > 0 && covers(one.location) && (one.scheme === 'all' || one.scheme === scheme))
    .sort(
      (a, b) =>
        rank(b.host) - rank(a.host) ||
        (readLocation(b.location) ?? '').length - (readLocation(a.location) ?? '').length ||
        Number(a.scheme === 'all') - Number(b.scheme === 'all') ||
        a.id - b.id,
    );
  return matching[0]?.id ?? null;
}

const label = fc.constantFrom('a', 'b', 'api', 'x-1');
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const pattern = fc.oneof(
  name,
  name.map((text) => `*.${text}`),
  fc.constant('*'),
);
const path = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'A', '%61', 'c d', 'é'), { maxLength: 4 })
  .chain((parts) => fc.constantFrom(`/${parts.join('/')}`, `/${parts.join('/')}/`));
const config = fc
  .array(fc.tuple(pattern, path, fc.constantFrom('all', 'http', 'https')), { maxLength: 40 })
  .map((rows) =>
    rows.map(([text, location, scheme], index) => host(index + 1, text, location, scheme as HostConfig['scheme'])),
  );

describe('HostRouter', () => {
  it('gives the same result as a naive reading of the rules', () => {
    fc.assert(
      fc.property(config, name, path, fc.constantFrom('http', 'https'), (hosts, asked, where, scheme) => {
        const target = readTarget(where.replaceAll(/[^\x21-\x7e]/g, (part) => encodeURIComponent(part)));
        const visitorScheme = scheme as VisitorScheme;
        const normal = target?.path ?? '/';
        expect(new HostRouter(hosts).match(asked, normal, visitorScheme)?.id ?? null).toBe(
          naive(hosts, asked, normal, visitorScheme),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it('matches a location only at segment boundaries', () => {
    const router = new HostRouter([host(1, 'a.test', '/api'), host(2, '*', '/')]);
    const served = (where: string): number | undefined => router.match('a.test', where, 'http')?.id;
    expect([served('/api'), served('/api/'), served('/api/x'), served('/apix'), served('/')]).toEqual([1, 1, 1, 2, 2]);
  });

  it('does not treat a wildcard inside a name as one', () => {
    const router = new HostRouter([host(1, '*.a.com')]);
    expect(router.match('x.a.com.evil.net', '/', 'http')).toBeNull();
    expect(router.match('a.com', '/', 'http')).toBeNull();
    expect(router.match('x.y.a.com', '/', 'http')?.id).toBe(1);
  });

  it('finds one of twenty thousand hosts', () => {
    const router = new HostRouter(Array.from({ length: 20_000 }, (_, at) => host(at + 1, `h${at}.example.com`, '/x')));
    for (const at of [0, 777, 19_999]) expect(router.match(`h${at}.example.com`, '/x/y', 'http')?.id).toBe(at + 1);
    expect(router.match('h20000.example.com', '/x/y', 'http')).toBeNull();
  });

  it('knows whether an escaped slash can change the result', () => {
    const router = new HostRouter([host(1, 'a.test'), host(2, '*.test', '/x'), host(3, 'b.example')]);
    expect([router.dependsOnPath('a.test'), router.dependsOnPath('b.example')]).toEqual([true, false]);
  });
});

const REFUSED = `/Admin /ADMIN/x /%41dmin /%2541dmin /a%64min;x /admin;x/y /;/admin /x/..;/admin /%3b/admin
  /x/..%3bjsessionid=1/admin /x/%252e%252e/admin /x/..%09/admin /.%20/admin /admin. /admin%20
  /admin%20.%20/x /admin::$DATA /admin%2fx /%5cadmin /x%255c..%255cadmin /%255cadmin /%252fadmin
  /%ef%bd%81dmin /adm%C4%B1n /%c1%a1dmin /adm%09in /ADMIN/..;/x /Admin;a/..;/x /app/%C3%BCber
  /APP/%C3%9Cber/x /app/U%CC%88ber /%25252525252541dmin`;

describe('a strict location', () => {
  const strict = (id: number, location: string): HostConfig => ({ ...host(id, 'a.test', location), strictPath: true });
  const router = new HostRouter([host(1, 'a.test'), strict(2, '/admin'), strict(3, '/app/Über')]);
  const isRefused = (raw: string): boolean => {
    const target = readTarget(raw);
    if (target === null) return true;
    return (target.ambiguous && router.dependsOnPath('a.test')) || router.evades('a.test', target.path);
  };

  const TOO_MANY_PLACES = `/a${'/b/..;'.repeat(20)}`;
  it.each(REFUSED.split(/\s+/).concat(TOO_MANY_PLACES))('refuses %s', (raw) => expect(isRefused(raw)).toBe(true));

  it.each([
    '/',
    '/x',
    '/administrator',
    '/x/admin',
    '/admin',
    '/admin/Other;x',
    '/%61dmin/x',
    '/x/../admin',
    '//admin',
  ])('leaves %s to the location that it names', (raw) => expect(isRefused(raw)).toBe(false));

  it('ignores other names, and has no effect if no location is strict', () => {
    expect(router.evades('b.test', '/Admin')).toBe(false);
    expect(new HostRouter([host(1, 'a.test'), host(2, 'a.test', '/admin')]).evades('a.test', '/Admin')).toBe(false);
  });
});

describe('readAuthority', () => {
  it.each([
    ['A.Example.COM:8080', 'a.example.com', 8080],
    ['a.example.com.', 'a.example.com', null],
    ['a.example.com:', 'a.example.com', null],
    ['m\u00c3\u00bcnchen.example', 'xn--mnchen-3ya.example', null],
    ['[2001:DB8::1]:443', '[2001:db8::1]', 443],
    ['127.0.0.1:80', '127.0.0.1', 80],
  ])('reads %s', (text, expected, port) => {
    expect(readAuthority(text)).toEqual({ host: expected, port });
  });

  it.each([
    '',
    'a b',
    'a@b',
    'user:pw@a',
    'a:99999',
    'a:8x',
    '[::1',
    '[zz]',
    'a..b',
    'a/b',
    'a,b',
    '-:1:2',
    'm\u00fcnchen.example',
  ])('refuses %j', (text) => expect(readAuthority(text)).toBeNull());
});

describe('readTarget', () => {
  it.each([
    ['/', '/', '/'],
    ['/a/b?c=/../%00#'.slice(0, -1), '/a/b', '/a/b?c=/../%00'],
    ['/a//b', '/a/b', '/a/b'],
    ['/a/./b/../c', '/a/c', '/a/c'],
    ['/a/%2e%2E/b', '/b', '/b'],
    ['/a/..', '/', '/'],
    ['/a/b/.', '/a/b/', '/a/b/'],
    ['/%61pi/x', '/api/x', '/api/x'],
    ['/%c3%A9', '/\u00c3\u00a9', '/%c3%A9'],
    ['/a%20b', '/a b', '/a%20b'],
    ['/a%252e', '/a%2e', '/a%252e'],
    ['/.well-known/x', '/.well-known/x', '/.well-known/x'],
    ['/a/...', '/a/...', '/a/...'],
  ])('normalizes %s', (target, where, forward) => {
    expect(readTarget(target)).toEqual({ path: where, forward, ambiguous: false });
  });

  it('reports an ambiguous escape', () => {
    expect(readTarget('/a%2fb')).toEqual({ path: '/a/b', forward: '/a%2fb', ambiguous: true });
    expect(readTarget('/a%5Cb')?.ambiguous).toBe(true);
  });

  it.each([
    '',
    '*',
    'a',
    'http://a/',
    '/a#b',
    '/a b',
    '/a\\b',
    '/\u00e9',
    '/a%00',
    '/a%0',
    '/%zz',
    '/..',
    '/a/../..',
    '/\t',
  ])('refuses %j', (target) => expect(readTarget(target)).toBeNull());
});
