import { describe, expect, it } from 'vitest';
import { parseAccessCode } from './access-code.js';
import { formatFullUrl } from './full-url.js';
import { parseShareLink, parseShareLinks } from './parse.js';
import { ShareLinkError, type ShareLink } from './share-link.js';

const failure = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error instanceof ShareLinkError ? error.code : error;
  }
  return 'nothing was raised';
};

/** [text, key, address without code, access code] */
const VECTORS: readonly (readonly [string, string, string, string])[] = [
  // 115
  ['https://115.com/s/abc123#xxxx 访问码:1234', '115:abc123', 'https://115.com/s/abc123', '1234'],
  ['https://115cdn.com/s/sw6pw793wfp?password=t816&#', '115:sw6pw793wfp', 'https://115cdn.com/s/sw6pw793wfp', 't816'],
  ['https://anxia.com/s/sw6pw793wfp?password=t816#', '115:sw6pw793wfp', 'https://anxia.com/s/sw6pw793wfp', 't816'],
  ['https://share.115.com/sw6pw793wfp?password=t816', '115:sw6pw793wfp', 'https://115.com/s/sw6pw793wfp', 't816'],
  ['sw6pw793wfp-t816', '115:sw6pw793wfp', 'https://115.com/s/sw6pw793wfp', 't816'],
  ['/sw6pw793wfp-t816/', '115:sw6pw793wfp', 'https://115.com/s/sw6pw793wfp', 't816'],
  ['#sw6pw793wfp-t816#', '115:sw6pw793wfp', 'https://115.com/s/sw6pw793wfp', 't816'],
  ['http://www.115.com/s/SW6PW793WFP', '115:sw6pw793wfp', 'https://www.115.com/s/sw6pw793wfp', ''],
  // 123
  [
    'https://www.123684.com/s/H6Y7Vv-2oDFv?pwd=REVO',
    '123:H6Y7Vv-2oDFv',
    'https://www.123684.com/s/H6Y7Vv-2oDFv',
    'REVO',
  ],
  ['https://www.123pan.com/s/H6Y7Vv-2oDFv.html', '123:H6Y7Vv-2oDFv', 'https://www.123pan.com/s/H6Y7Vv-2oDFv', ''],
  ['https://www.123pan.cn/s/abcd-efgh?提取码:x1Y2', '123:abcd-efgh', 'https://www.123pan.cn/s/abcd-efgh', 'x1Y2'],
  [
    'https://www.123865.com/s/abcd-efgh?%E6%8F%90%E5%8F%96%E7%A0%81:x1Y2',
    '123:abcd-efgh',
    'https://www.123865.com/s/abcd-efgh',
    'x1Y2',
  ],
  ['https://www.123685.com/s/abcd-efgh', '123:abcd-efgh', 'https://www.123685.com/s/abcd-efgh', ''],
  ['https://www.123912.com/s/abcd-efgh', '123:abcd-efgh', 'https://www.123912.com/s/abcd-efgh', ''],
  ['https://www.123592.com/s/abcd-efgh', '123:abcd-efgh', 'https://www.123592.com/s/abcd-efgh', ''],
  // quark: four or six
  [
    'https://pan.quark.cn/s/e06704643151?pwd=12e4L6',
    'quark:e06704643151',
    'https://pan.quark.cn/s/e06704643151',
    '12e4L6',
  ],
  [
    'https://pan.quark.cn/s/203e7e764160?pwd=FLtm#/list/share/aabc0123',
    'quark:203e7e764160',
    'https://pan.quark.cn/s/203e7e764160#/list/share/aabc0123',
    'FLtm',
  ],
  // baidu
  [
    'https://pan.baidu.com/s/13milLJZV5_7DCzGDQu-fcA?pwd=8888',
    'baidu:13milLJZV5_7DCzGDQu-fcA',
    'https://pan.baidu.com/s/13milLJZV5_7DCzGDQu-fcA',
    '8888',
  ],
  [
    'https://pan.baidu.com/share/init?surl=3milLJZV5_7DCzGDQu-fcA&pwd=8888',
    'baidu:13milLJZV5_7DCzGDQu-fcA',
    'https://pan.baidu.com/s/13milLJZV5_7DCzGDQu-fcA',
    '8888',
  ],
  ['https://yun.baidu.com/s/1abc_D-e#ab12', 'baidu:1abc_D-e', 'https://pan.baidu.com/s/1abc_D-e', 'ab12'],
  ['https://pan.baidu.com/e/1abcDE?pwd=ab12', 'baidu:e/1abcDE', 'https://pan.baidu.com/e/1abcDE', 'ab12'],
  ['https://pan.baidu.com/doc/share/abc_D-e', 'baidu:abc_D-e', 'https://pan.baidu.com/doc/share/abc_D-e', ''],
  ['https://eyun.baidu.com/s/3eQ2pXz', 'baidu:3eQ2pXz', 'https://eyun.baidu.com/s/3eQ2pXz', ''],
  // aliyun
  ['https://www.alipan.com/s/AbC123dEf45', 'aliyun:AbC123dEf45', 'https://www.alipan.com/s/AbC123dEf45', ''],
  [
    'https://www.aliyundrive.com/s/AbC123dEf45/folder/60a1b2c3 提取码: ab12',
    'aliyun:AbC123dEf45',
    'https://www.aliyundrive.com/s/AbC123dEf45/folder/60a1b2c3',
    'ab12',
  ],
  ['https://alywp.net/XyZ123', 'aliyun:XyZ123', 'https://alywp.net/XyZ123', ''],
  // tianyi
  ['https://cloud.189.cn/t/aiuYru7zIfqq', 'tianyi:aiuYru7zIfqq', 'https://cloud.189.cn/t/aiuYru7zIfqq', ''],
  [
    'https://cloud.189.cn/t/aiuYru7zIfqq（访问码：a1b2）',
    'tianyi:aiuYru7zIfqq',
    'https://cloud.189.cn/t/aiuYru7zIfqq',
    'a1b2',
  ],
  [
    'https://cloud.189.cn/t/aiuYru7zIfqq%EF%BC%88%E8%AE%BF%E9%97%AE%E7%A0%81%EF%BC%9Aa1b2%EF%BC%89',
    'tianyi:aiuYru7zIfqq',
    'https://cloud.189.cn/t/aiuYru7zIfqq',
    'a1b2',
  ],
  [
    'https://cloud.189.cn/web/share?code=aiuYru7zIfqq（访问码：a1b2）',
    'tianyi:aiuYru7zIfqq',
    'https://cloud.189.cn/t/aiuYru7zIfqq',
    'a1b2',
  ],
  [
    'https://h5.cloud.189.cn/share.html#/t/aiuYru7zIfqq',
    'tianyi:aiuYru7zIfqq',
    'https://cloud.189.cn/t/aiuYru7zIfqq',
    '',
  ],
  ['https://h5.cloud.189.cn/share/aiuYru7zIfqq', 'tianyi:aiuYru7zIfqq', 'https://cloud.189.cn/t/aiuYru7zIfqq', ''],
  // xunlei
  [
    'https://pan.xunlei.com/s/VNx8hVvMfSH5PjUnM8tO-DzVA1?pwd=jxdp#',
    'xunlei:VNx8hVvMfSH5PjUnM8tO-DzVA1',
    'https://pan.xunlei.com/s/VNx8hVvMfSH5PjUnM8tO-DzVA1',
    'jxdp',
  ],
  // uc
  [
    'https://drive.uc.cn/s/acee11d5310a4?public=1',
    'uc:acee11d5310a4',
    'https://drive.uc.cn/s/acee11d5310a4?public=1',
    '',
  ],
  ['https://fast.uc.cn/s/acee11d5310a4 密码：9k2m', 'uc:acee11d5310a4', 'https://fast.uc.cn/s/acee11d5310a4', '9k2m'],
  // mobile
  [
    'https://yun.139.com/shareweb/#/w/i/2oRhbuZoZbFpi 提取码：a1b2',
    'mobile:2oRhbuZoZbFpi',
    'https://yun.139.com/shareweb/#/w/i/2oRhbuZoZbFpi',
    'a1b2',
  ],
  ['https://caiyun.139.com/w/i/2oRhbuZoZbFpi', 'mobile:2oRhbuZoZbFpi', 'https://caiyun.139.com/w/i/2oRhbuZoZbFpi', ''],
  ['https://caiyun.139.com/m/i?2oRhbuZoZbFpi', 'mobile:2oRhbuZoZbFpi', 'https://caiyun.139.com/m/i?2oRhbuZoZbFpi', ''],
  [
    'http://caiyun.feixin.10086.cn/2oRhbuZoZbFpi',
    'mobile:2oRhbuZoZbFpi',
    'https://caiyun.feixin.10086.cn/2oRhbuZoZbFpi',
    '',
  ],
  // guangya, pikpak
  ['https://www.guangyapan.com/s/aB-9_x', 'guangya:aB-9_x', 'https://www.guangyapan.com/s/aB-9_x', ''],
  ['https://mypikpak.com/s/VNabc-9_x/VNdef', 'pikpak:VNabc-9_x', 'https://mypikpak.com/s/VNabc-9_x', ''],
];

describe('every kind of link', () => {
  it.each(VECTORS)('%s', (text, key, url, accessCode) => {
    const link = parseShareLink(text);
    expect({ key: link.key, url: link.url, accessCode: link.accessCode }).toEqual({ key, url, accessCode });
    expect(link).toMatchObject({ supported: true, accessCodeConflict: false });
    expect(`${link.kind}:${link.id ?? ''}`).toBe(key);
    const again = parseShareLink(link.fullUrl);
    expect({ key: again.key, url: again.url, accessCode: again.accessCode }).toEqual({ key, url, accessCode });
  });

  it('get one key for all hosts of one site', () => {
    const keys = ['115.com', '115cdn.com', 'anxia.com', 'www.115cdn.com'].map(
      (host) => parseShareLink(`https://${host}/s/abc123`).key,
    );
    expect(new Set(keys)).toEqual(new Set(['115:abc123']));
  });
});

describe('links that only look like a known site', () => {
  it.each([
    'https://not115.com/s/abc',
    'https://myanxia.com/s/abc',
    'https://evil.example/?u=115.com',
    'https://evil.example/?u=https://115.com/s/abc',
    'https://evil.example/https://115.com/s/abc',
    'https://115.com.evil.example/s/abc',
    'https://115.com@evil.example/s/abc',
    'https://evil.example/115.com/s/abc',
    'https://evil.example#115.com/s/abc',
    'https://panxbaidu.com/s/1abc',
    'https://115.com:8443/s/abc',
    'https://115.com/s/abc_def',
    'https://115.com/user/abc',
    'https://pan.quark.cn/s/nothexadecimal',
    'https://pan.xunlei.com/s/abc',
    'https://pan.baidu.com/disk/home',
    `https://115.com/s/${'a'.repeat(129)}`,
    'https://www.lanzoui.com/ixyz',
  ])('%s is an ordinary address', (text) => {
    expect(parseShareLink(text)).toMatchObject({ kind: 'others', supported: false, id: null });
  });

  it.each([
    '',
    '   ',
    'hello',
    'resource-list',
    'not115.com/s/abc',
    'javascript:alert(1)',
    'https://',
    'a1b2c3-d4e5-f6',
  ])('%j is not a link', (text) => {
    expect(failure(() => parseShareLink(text))).toBe('not_a_link');
    expect(parseShareLinks(text)).toEqual([]);
  });

  it('have the host that a browser would use', () => {
    expect(parseShareLink('HTTPS://PAN.BAIDU.COM./s/1abc').url).toBe('https://pan.baidu.com/s/1abc');
    expect(parseShareLink('https://someone:secret@115.com/s/abc').url).toBe('https://115.com/s/abc');
    expect(parseShareLink('https://115.com:443/s/abc').key).toBe('115:abc');
  });
});

describe('free text', () => {
  it.each([
    ['链接：https://pan.baidu.com/s/1abc 提取码：x1y2 复制这段内容后打开百度网盘', 'baidu:1abc', 'x1y2'],
    ['提取码: x1y2 链接: https://pan.baidu.com/s/1abc', 'baidu:1abc', 'x1y2'],
    ['ｈｔｔｐｓ：／／ｐａｎ．ｂａｉｄｕ．ｃｏｍ／ｓ／１ａｂｃ？ｐｗｄ＝ｘ１ｙ２', 'baidu:1abc', 'x1y2'],
    ['https://pan.bai\u200bdu.com/s/1a\ufeffbc\u200d?pwd=x1\u2060y2', 'baidu:1abc', 'x1y2'],
    ['【剧集】https://pan.quark.cn/s/e06704643151，提取码【x1y2】', 'quark:e06704643151', 'x1y2'],
    ['pan.baidu.com/s/1abc 密码是 x1y2', 'baidu:1abc', 'x1y2'],
    ['看 www.115.com/s/abc123?password=x1y2', '115:abc123', 'x1y2'],
    ['https://115.com/s/abc123 解压密码：www 访问码：x1y2', '115:abc123', 'x1y2'],
    ['https://115.com/s/abc123\n解压密码：x1y2', '115:abc123', ''],
    ['https://115.com/s/abc123 password: x1y2', '115:abc123', 'x1y2'],
    ['https://pan.baidu.com/s/1abc?pwd=x1y2&amp;from=page', 'baidu:1abc', 'x1y2'],
    ['first https://example.com/page then https://115.com/s/abc123?password=x1y2', '115:abc123', 'x1y2'],
  ])('%s', (text, key, accessCode) => {
    expect(parseShareLink(text)).toMatchObject({ key, accessCode });
  });

  it('separates links that are glued together', () => {
    expect(parseShareLinks('https://a.example/x$$$https://115.com/s/abc').map(({ key }) => key)).toEqual([
      'others:https://a.example/x',
      '115:abc',
    ]);
    const text =
      'https://pan.baidu.com/s/13milLJZV5_7DCzGDQu-fcA?pwd=8888$$$https://pan.quark.cn/s/e06704643151$$$https://drive.uc.cn/s/acee11d5310a4?public=1';
    expect(parseShareLinks(text).map(({ key, accessCode }) => [key, accessCode])).toEqual([
      ['baidu:13milLJZV5_7DCzGDQu-fcA', '8888'],
      ['quark:e06704643151', ''],
      ['uc:acee11d5310a4', ''],
    ]);
    expect(
      parseShareLinks(
        '夸克：https://pan.quark.cn/s/e06704643151 提取码：aaaa 百度=https://pan.baidu.com/s/1abc 提取码：bbbb',
      ).map(({ key, accessCode }) => [key, accessCode]),
    ).toEqual([
      ['quark:e06704643151', 'aaaa'],
      ['baidu:1abc', 'bbbb'],
    ]);
  });
});

describe('access codes', () => {
  const codes = (text: string, accessCode?: string): Pick<ShareLink, 'accessCode' | 'accessCodeConflict'> => {
    const link = parseShareLink(text, accessCode === undefined ? {} : { accessCode });
    return { accessCode: link.accessCode, accessCodeConflict: link.accessCodeConflict };
  };

  it('are found in order: explicit, query, fragment, glued, nearby; a second one is a conflict', () => {
    expect(codes('https://pan.baidu.com/s/1abc?pwd=bbbb#cccc', 'aaaa')).toEqual({
      accessCode: 'aaaa',
      accessCodeConflict: true,
    });
    expect(codes('https://pan.baidu.com/s/1abc?pwd=bbbb#cccc')).toEqual({
      accessCode: 'bbbb',
      accessCodeConflict: true,
    });
    expect(codes('https://pan.baidu.com/s/1abc#cccc 提取码：eeee')).toEqual({
      accessCode: 'cccc',
      accessCodeConflict: true,
    });
    expect(codes('https://pan.baidu.com/s/1abc（提取码：dddd） 提取码：dddd')).toEqual({
      accessCode: 'dddd',
      accessCodeConflict: false,
    });
    expect(codes('https://pan.baidu.com/s/1abc?pwd=aaaa', 'aaaa').accessCodeConflict).toBe(false);
    expect(codes('https://pan.baidu.com/s/1abc', ' ａ１ｂ２ ')).toEqual({
      accessCode: 'a1b2',
      accessCodeConflict: false,
    });
    expect(codes('https://pan.baidu.com/s/1abc?pwd=aaaa', '')).toEqual({
      accessCode: 'aaaa',
      accessCodeConflict: false,
    });
  });

  it('have 1 to 16 letters and digits', () => {
    expect(codes('https://pan.baidu.com/s/1abc', 'a')).toMatchObject({ accessCode: 'a' });
    expect(codes(`https://pan.baidu.com/s/1abc?pwd=${'a'.repeat(16)}`)).toMatchObject({ accessCode: 'a'.repeat(16) });
    expect(codes(`https://pan.baidu.com/s/1abc?pwd=${'a'.repeat(17)}`)).toMatchObject({ accessCode: '' });
    expect(parseAccessCode(' ａ１ ')).toBe('a1');
    expect(parseAccessCode('')).toBe('');
    expect(failure(() => parseAccessCode('a b'))).toBe('bad_access_code');
    for (const bad of ['a b', 'a'.repeat(17), '<b>', '密码']) {
      expect(failure(() => parseShareLink('https://115.com/s/abc', { accessCode: bad }))).toBe('bad_access_code');
    }
  });
});

describe('the full address', () => {
  it.each([
    ['115', 'https://115.com/s/abc', 'https://115.com/s/abc?password=x1y2'],
    ['115', 'https://115.com/s/abc?password=old&#', 'https://115.com/s/abc?password=x1y2#'],
    ['123', 'https://www.123pan.com/s/a-b', 'https://www.123pan.com/s/a-b?pwd=x1y2'],
    ['quark', 'https://pan.quark.cn/s/abc#/list/share/f', 'https://pan.quark.cn/s/abc?pwd=x1y2#/list/share/f'],
    ['baidu', 'https://pan.baidu.com/s/1?pwd=x1y2', 'https://pan.baidu.com/s/1?pwd=x1y2'],
    ['aliyun', 'https://www.alipan.com/s/a', 'https://www.alipan.com/s/a?pwd=x1y2'],
    ['tianyi', 'https://cloud.189.cn/t/a', 'https://cloud.189.cn/t/a（访问码：x1y2）'],
    ['tianyi', 'https://cloud.189.cn/t/a（访问码：old1）', 'https://cloud.189.cn/t/a（访问码：x1y2）'],
    ['xunlei', 'https://pan.xunlei.com/s/V1', 'https://pan.xunlei.com/s/V1?pwd=x1y2#'],
    ['xunlei', 'https://pan.xunlei.com/s/V1?pwd=x1y2#', 'https://pan.xunlei.com/s/V1?pwd=x1y2#'],
    ['uc', 'https://drive.uc.cn/s/a?public=1', 'https://drive.uc.cn/s/a?public=1&pwd=x1y2'],
    ['mobile', 'https://caiyun.139.com/m/i?abc', 'https://caiyun.139.com/m/i?abc&pwd=x1y2'],
    ['mobile', 'https://yun.139.com/shareweb/#/w/i/a', 'https://yun.139.com/shareweb/?pwd=x1y2#/w/i/a'],
    ['others', 'https://a.example/?password=theirs', 'https://a.example/?password=theirs&pwd=x1y2'],
    ['magnet', 'magnet:?xt=urn:btih:a', 'magnet:?xt=urn:btih:a'],
  ] as const)('of %s %s', (kind, url, full) => {
    expect(formatFullUrl({ kind, url, accessCode: 'x1y2' })).toBe(full);
    expect(formatFullUrl({ kind, url: full, accessCode: 'x1y2' })).toBe(full);
    expect(formatFullUrl({ kind, url, accessCode: '' })).toBe(url);
  });
});

describe('content links', () => {
  const hash = 'c9e15763f722f23e98a29decdfae341b98d53056';

  it('of magnets are equal in hex and base32', () => {
    const hex = parseShareLink(`magnet:?xt=urn:btih:${hash.toUpperCase()}&amp;dn=A+film&amp;tr=udp%3A%2F%2Ft.example`);
    expect(hex).toMatchObject({ kind: 'magnet', id: hash, key: `magnet:${hash}`, accessCode: '', supported: true });
    expect(hex.url).toBe(`magnet:?xt=urn:btih:${hash.toUpperCase()}&dn=A+film&tr=udp%3A%2F%2Ft.example`);
    expect(hex.fullUrl).toBe(hex.url);
    expect(parseShareLink('magnet:?xt=urn:btih:ZHQVOY7XELZD5GFCTXWN7LRUDOMNKMCW').key).toBe(hex.key);
    expect(parseShareLink(`magnet:?dn=x&xt=urn:btmh:1220${'ab'.repeat(32)}`).id).toBe(`1220${'ab'.repeat(32)}`);
    expect(parseShareLink(`magnet:?xt.1=urn:btmh:1220${'ab'.repeat(32)}&xt.2=urn:btih:${hash}`).key).toBe(hex.key);
    expect(parseShareLink(`下载 magnet:?xt=urn:btih:${hash} 提取码：a1b2`, { accessCode: 'zzzz' }).accessCode).toBe('');
  });

  it('of ed2k are read, also with escaped bars and a name of several words', () => {
    const link = parseShareLink(
      'ed2k://|file|A film 电影.mkv|123456|0123456789ABCDEF0123456789ABCDEF|h=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567|/',
    );
    expect(link).toMatchObject({ kind: 'ed2k', key: 'ed2k:0123456789abcdef0123456789abcdef' });
    expect(link.url).toContain('|h=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567|/');
    expect(parseShareLink(link.fullUrl).url).toBe(link.url);
    const marked = parseShareLink('ed2k://|file|<b>"`|1|0123456789abcdef0123456789abcdef|/').url;
    expect(marked).toBe('ed2k://|file|%3Cb%3E%22%60|1|0123456789abcdef0123456789abcdef|/');
    expect(parseShareLink('ed2k://%7Cfile%7Ca.mkv%7C1%7C0123456789abcdef0123456789abcdef%7C/').key).toBe(link.key);
  });

  it.each([
    'magnet:?dn=nothing',
    `magnet:?xt=urn:btih:${hash}0`,
    'magnet:?xt=urn:btih:abc',
    'magnet:?xt=urn:btmh:1220abcd',
    'ed2k://|file|a.mkv|big|0123456789abcdef0123456789abcdef|/',
    'ed2k://|file|a.mkv|1|0123|/',
    'ed2k://|server|1.2.3.4|4661|/',
  ])('%s has no content hash', (text) => {
    expect(failure(() => parseShareLink(text))).toBe('not_a_link');
  });
});

describe('unknown sites', () => {
  it('keep their address, without pwd', () => {
    const link = parseShareLink('看 https://www.lanzoui.com/ixyz?pwd=ab12&x=1#top。');
    expect(link).toMatchObject({ url: 'https://www.lanzoui.com/ixyz?x=1#top', accessCode: 'ab12' });
    expect(link.key).toBe('others:https://www.lanzoui.com/ixyz?x=1#top');
    expect(parseShareLink(link.fullUrl).key).toBe(link.key);
    expect(parseShareLink('https://a.example/电影/第一集 提取码：ab12')).toMatchObject({
      url: 'https://a.example/%E7%94%B5%E5%BD%B1/%E7%AC%AC%E4%B8%80%E9%9B%86',
      accessCode: 'ab12',
    });
    expect(parseShareLink('https://a.example/x?password=theirs').accessCode).toBe('');
    expect(parseShareLink(`https://a.example/${'x'.repeat(1000)}`).key).toMatch(/^others:sha256:[0-9a-f]{64}$/);
  });
});

it('at most 2048 bytes are read', () => {
  expect(parseShareLink(`https://115.com/s/abc ${'x'.repeat(2026)}`).key).toBe('115:abc');
  expect(failure(() => parseShareLink(`https://115.com/s/abc ${'x'.repeat(2027)}`))).toBe('too_long');
  expect(failure(() => parseShareLinks('链'.repeat(683)))).toBe('too_long');
});
