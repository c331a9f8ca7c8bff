import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseProfileHeaders, parseUserinfo } from './response-headers.js';

describe('subscription-userinfo', () => {
  it.each([
    [
      'upload=1; download=2; total=3; expire=1700000000',
      { upload: 1, download: 2, total: 3, expireAt: new Date(1.7e12) },
    ],
    ['expire=1700000000;total=3;download=2;upload=1', { upload: 1, download: 2, total: 3, expireAt: new Date(1.7e12) }],
    ['upload=1.6;download=2e3;total=1.5E+10', { upload: 2, download: 2000, total: 15_000_000_000, expireAt: null }],
    ['UPLOAD = 1 , Download="2"', { upload: 1, download: 2, total: null, expireAt: null }],
    ['upload=-1; download=x; total=3; expire=', { upload: null, download: null, total: 3, expireAt: null }],
    ['total=99999999999999999999; expire=0', { upload: null, download: null, total: null, expireAt: null }],
    ['expire=1700000000000', { upload: null, download: null, total: null, expireAt: new Date(1.7e12) }],
    ['expire=1e300; total=1', { upload: null, download: null, total: 1, expireAt: null }],
  ])('%s', (header, expected) => {
    expect(parseUserinfo(header)).toEqual(expected);
  });

  it.each([null, undefined, '', 'nonsense', 'reupload=3', 'upload'])('%j is ignored', (header) => {
    expect(parseUserinfo(header)).toBeUndefined();
  });

  it('never throws and never returns an invalid date', () => {
    fc.assert(
      fc.property(fc.string(), fc.double(), (noise, figure) => {
        const result = parseUserinfo(`${noise};expire=${figure};total=${figure}`);
        if (result?.expireAt) expect(result.expireAt.toISOString()).toMatch(/Z$/);
      }),
    );
  });
});

describe('profile headers', () => {
  const nothing = {
    updateIntervalHours: null,
    title: null,
    filename: null,
    webPageUrl: null,
    supportUrl: null,
    announce: null,
  };

  it('reads all of them from a record, a Headers object and repeated headers', () => {
    const headers = {
      'Profile-Update-Interval': '12.5',
      'profile-title': `base64:${Buffer.from('我的订阅').toString('base64')}`,
      'content-disposition': `attachment; filename="x.yaml"; filename*=UTF-8''%E6%88%91.yaml`,
      'profile-web-page-url': 'https://example.com/home?a=1',
      'support-url': 'http://example.com/',
      announce: 'base64:aGVsbG8=',
    };
    const expected = {
      updateIntervalHours: 12.5,
      title: '我的订阅',
      filename: '我.yaml',
      webPageUrl: 'https://example.com/home?a=1',
      supportUrl: 'http://example.com/',
      announce: 'hello',
    };
    expect(parseProfileHeaders(headers)).toEqual(expected);
    expect(parseProfileHeaders(new Headers(headers))).toEqual(expected);
    expect(parseProfileHeaders({ announce: ['a', 'b'] })).toEqual({ ...nothing, announce: 'a' });
    expect(parseProfileHeaders({})).toEqual(nothing);
  });

  it.each([
    ['attachment; filename=plain.txt', 'plain.txt'],
    ['attachment; filename="a \\"b\\".txt"', 'a "b".txt'],
    ["attachment; filename*=iso-8859-1'en'%A3.txt", '£.txt'],
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    ['attachment; filename="%E6%88%91"', '我'],
    ["inline; filename*=UTF-8''..%2F..%2Fx", 'x'],
    ['attachment', null],
  ])('content-disposition %s', (value, filename) => {
    expect(parseProfileHeaders({ 'content-disposition': value }).filename).toBe(filename);
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ftp://example.com',
    'example.com',
    'https://user:p@example.com/',
    '',
    'data:text/html,x',
  ])('a link that is not plain http(s) is ignored: %s', (url) => {
    const profile = parseProfileHeaders({ 'profile-web-page-url': url, 'support-url': url });
    expect([profile.webPageUrl, profile.supportUrl]).toEqual([null, null]);
  });

  it.each(['0', '-1', 'NaN', 'daily', '1e9', ''])('update interval %j is ignored', (value) => {
    expect(parseProfileHeaders({ 'profile-update-interval': value }).updateIntervalHours).toBeNull();
  });

  it('UTF-8 that was read as Latin-1 is corrected, and real Latin-1 stays', () => {
    const wire = Buffer.from('我的订阅').toString('latin1');
    expect(parseProfileHeaders({ 'profile-title': wire }).title).toBe('我的订阅');
    expect(parseProfileHeaders({ 'profile-title': 'caf\u00e9' }).title).toBe('café');
  });

  it('control characters and endless titles are cut', () => {
    expect(parseProfileHeaders({ 'profile-title': `a\r\nb\0${'x'.repeat(9000)}` }).title).toMatch(/^a b x{1,196}$/);
  });
});
