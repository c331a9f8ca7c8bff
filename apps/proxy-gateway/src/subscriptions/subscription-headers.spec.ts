import { describe, expect, it } from 'vitest';
import { readProfile, readTraffic } from './subscription-headers.js';

const nothing = { remainingBytes: null, totalBytes: null, expireAt: null };
const traffic = (header: string) => readTraffic({ 'subscription-userinfo': header }, nothing);

describe('readTraffic', () => {
  it('reads the usual header', () => {
    expect(traffic('upload=10; download=20; total=100; expire=1893456000')).toEqual({
      upload: 10,
      download: 20,
      total: 100,
      remaining: 70,
      used_percent: 30,
      expire_at: '2030-01-01T00:00:00.000Z',
    });
  });

  it.each([
    ['any order and no spaces', 'total=100;download=20;upload=10', { total: 100, remaining: 70 }],
    ['decimals', 'upload=1.9;download=2.2;total=1e2', { upload: 2, download: 2, total: 100 }],
    ['a missing download', 'upload=10; total=100', { upload: 10, download: null, remaining: 90 }],
    ['a missing total', 'upload=10; download=5', { total: null, remaining: null, used_percent: null }],
    ['no limits', 'upload=1; download=1; total=0; expire=0', { total: null, expire_at: null }],
    ['more used than allowed', 'upload=0; download=200; total=100', { remaining: 0, used_percent: 100 }],
    ['milliseconds', 'total=1; expire=1893456000000', { expire_at: '2030-01-01T00:00:00.000Z' }],
    [
      'rubbish beside sense',
      'upload=abc; =; total=100; expire=-5; expire',
      { upload: null, total: 100, expire_at: null },
    ],
  ])('takes %s', (_what, header, part) => {
    expect(traffic(header)).toMatchObject(part);
  });

  it('gives nothing for a reply without the headers', () => {
    expect(traffic('')).toBeNull();
    expect(traffic('upload; hello')).toBeNull();
  });

  it('lets pseudo-nodes fill in what the header lacks', () => {
    const stated = { remainingBytes: 25, totalBytes: 100, expireAt: new Date('2030-01-01T00:00:00Z') };
    expect(readTraffic({}, stated)).toEqual({
      upload: null,
      download: null,
      total: 100,
      remaining: 25,
      used_percent: 75,
      expire_at: '2030-01-01T00:00:00.000Z',
    });
  });
});

describe('readProfile', () => {
  it('reads every header', () => {
    const headers = {
      'profile-title': `base64:${Buffer.from('Дом 🏠').toString('base64')}`,
      'profile-web-page-url': 'https://provider.example/',
      'support-url': 'tg://resolve?domain=x',
      'profile-update-interval': '12',
      announce: 'maintenance\r\nat noon',
    };
    expect(readProfile(headers, ['Expires 2030'])).toEqual({
      title: 'Дом 🏠',
      web_page_url: 'https://provider.example/',
      support_url: 'tg://resolve?domain=x',
      update_interval_hours: 12,
      announce: 'maintenance at noon',
      notices: ['Expires 2030'],
    });
  });

  it.each([
    [`attachment; filename="plain.yaml"`, 'plain'],
    [`attachment; filename*=UTF-8''%E6%9C%BA%E5%9C%BA; filename="x"`, '机场'],
    [`attachment; filename=bare.txt`, 'bare'],
    [`attachment; filename*=UTF-8''100%`, '100%'],
  ])('takes the title from %s', (disposition, title) => {
    expect(readProfile({ 'content-disposition': disposition }, [])?.title).toBe(title);
  });

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'nonsense'])(
    'never shows the link %s',
    (url) => {
      expect(readProfile({ 'profile-web-page-url': url, 'support-url': url }, [])).toBeNull();
    },
  );

  it('cuts long texts without splitting a character, which the database would refuse', () => {
    const long = `x${'🏠'.repeat(400)}`;
    const profile = readProfile({ 'profile-title': `base64:${Buffer.from(long).toString('base64')}` }, [long]);
    expect(profile?.title).toMatch(/^x🏠+/u);
    expect(profile?.title?.isWellFormed()).toBe(true);
    expect(profile?.notices[0]?.isWellFormed()).toBe(true);
  });

  it.each(['0', '-1', 'soon', '1e9'])('ignores the interval %s', (value) => {
    expect(readProfile({ 'profile-update-interval': value }, [])).toBeNull();
  });
});
