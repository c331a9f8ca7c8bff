import { describe, expect, it } from 'vitest';
import { FormatError } from '../errors.js';
import type { FormatErrorCode } from '../errors.js';
import { formatLink, parseLink } from './registry.js';

const b64 = (text: string) => Buffer.from(text).toString('base64');
const b64url = (text: string) => Buffer.from(text).toString('base64url');
const UUID = 'b831381d-6324-4d53-ad4f-8cda48b30811';
const PBK = 'Z84J2IelR9ch3k8VtlVhhs5ycBUlXA7wHBWcBrjqnAw';

function failure(link: string): { code: FormatErrorCode; field: string | undefined } {
  try {
    parseLink(link);
  } catch (error) {
    if (error instanceof FormatError) return { code: error.code, field: error.field };
    throw error;
  }
  throw new Error(`parsed: ${link}`);
}

describe('ss links', () => {
  const plain = { type: 'ss', name: 'n', server: '192.0.2.1', port: 8388, cipher: 'aes-256-gcm', password: 'a:b@c' };

  it.each([
    ['SIP002 with base64 userinfo', `ss://${b64url('aes-256-gcm:a:b@c')}@192.0.2.1:8388#n`],
    ['padding left percent-encoded', `ss://${encodeURIComponent(b64('aes-256-gcm:a:b@c'))}@192.0.2.1:8388/#n`],
    ['plain userinfo', 'ss://aes-256-gcm:a%3Ab%40c@192.0.2.1:8388#n'],
    ['whole in base64', `ss://${b64('aes-256-gcm:a:b@c@192.0.2.1:8388')}#n`],
    ['upper-case scheme and cipher', `SS://${b64('AES-256-GCM:a:b@c')}@192.0.2.1:8388?#n`],
  ])('%s', (_name, link) => {
    expect(parseLink(link)).toEqual(plain);
  });

  it('2022 ciphers keep both keys, and a key of the wrong length is refused', () => {
    const key = b64('0123456789abcdef');
    const link = `ss://2022-blake3-aes-128-gcm:${encodeURIComponent(`${key}:${key}`)}@h.example:1#n`;
    expect(parseLink(link)).toMatchObject({ cipher: '2022-blake3-aes-128-gcm', password: `${key}:${key}` });
    expect(failure(`ss://2022-blake3-aes-256-gcm:${encodeURIComponent(key)}@h.example:1`)).toEqual({
      code: 'invalid_field',
      field: 'password',
    });
  });

  it('IPv6 hosts in brackets come out canonical', () => {
    expect(parseLink(`ss://${b64('rc4-md5:x')}@[2001:DB8:0::1]:80#n`)).toMatchObject({
      server: '2001:db8::1',
      port: 80,
    });
    expect(formatLink(parseLink(`ss://${b64('rc4-md5:x')}@[2001:db8::1]:80#n`))).toContain('@[2001:db8::1]:80');
  });

  it('an Xray WebSocket in an ss link is v2ray-plugin without mux', () => {
    const link = `ss://${b64('aes-128-gcm:x')}@h.example:443?type=ws&security=tls&host=c.example&path=%2Fp#n`;
    expect(parseLink(link)).toMatchObject({
      plugin: {
        name: 'v2ray-plugin',
        options: { mode: 'websocket', tls: true, host: 'c.example', path: '/p', mux: false },
      },
    });
    expect(failure(`ss://${b64('aes-128-gcm:x')}@h.example:443?type=grpc`).code).toBe('unsupported_transport');
  });

  it('SIP003 escapes and Shadowrocket plugin JSON are read', () => {
    const sip003 = encodeURIComponent('v2ray-plugin;tls;path=/a\\;b\\=c;mux=0');
    expect(parseLink(`ss://${b64('aes-128-gcm:x')}@h:1?plugin=${sip003}`)).toMatchObject({
      plugin: { options: { tls: true, path: '/a;b=c', mux: false } },
    });
    const json = b64url(JSON.stringify({ mode: 'websocket', host: 'c.example', tls: true, mux: true }));
    expect(parseLink(`ss://${b64('aes-128-gcm:x')}@h:1?v2ray-plugin=${json}`)).toMatchObject({
      plugin: { name: 'v2ray-plugin', options: { mode: 'websocket', host: 'c.example', tls: true } },
    });
  });

  it.each([
    ['ss://!!!!#x', 'invalid_base64', undefined],
    [`ss://${b64('aes-128-gcm')}@h:1`, 'missing_field', 'password'],
    [`ss://${b64('aes-128-gcm:')}@h:1`, 'missing_field', 'password'],
    [`ss://${b64('aes-128-gcm:x')}@h:0`, 'invalid_port', 'port'],
    [`ss://${b64('aes-128-gcm:x')}@h:65536`, 'invalid_port', 'port'],
    [`ss://${b64('aes-128-gcm:x')}@h`, 'missing_field', 'port'],
    [`ss://${b64('aes-128-gcm:x')}@ho st:1`, 'invalid_server', 'server'],
    [`ss://${b64('aes-128-gcm:x')}@[2001:db8::zz]:1`, 'invalid_server', 'server'],
    [`ss://${b64('aes-128-gcm:a\0b')}@h:1`, 'invalid_field', 'password'],
  ])('%s is refused as %s', (link, code, field) => {
    expect(failure(link)).toEqual({ code, field });
  });
});

describe('socks and http links', () => {
  it.each([
    ['socks5://user:pa%3Ass@h.example:1080#n', { username: 'user', password: 'pa:ss' }],
    ['socks5h://user:pa:s:s@h.example:1080#n', { username: 'user', password: 'pa:s:s' }],
    [`socks://${b64('user:pa:ss')}@h.example:1080#n`, { username: 'user', password: 'pa:ss' }],
    [`socks://${b64('user:p@ss@h.example:1080')}#n`, { username: 'user', password: 'p@ss' }],
    ['socks5://h.example:1080#n', {}],
  ])('%s', (link, user) => {
    expect(parseLink(link)).toEqual({ type: 'socks5', name: 'n', server: 'h.example', port: 1080, ...user });
  });

  it('https is an HTTP proxy over TLS', () => {
    expect(parseLink('https://u:p@h.example:8443?sni=s.example#n')).toEqual({
      type: 'http',
      name: 'n',
      server: 'h.example',
      port: 8443,
      username: 'u',
      password: 'p',
      tls: { sni: 's.example' },
    });
  });

  it.each(['https://t.me/channel', 'http://example.com', 'https://example.com:443/sub?token=x'])(
    'a web address is not a proxy: %s',
    (link) => {
      expect(failure(link).code).toBe('invalid_link');
    },
  );

  it('SOCKS4 is refused by name', () => {
    expect(failure('socks4://h.example:1080')).toEqual({ code: 'unsupported_type', field: 'type' });
  });
});

describe('trojan links', () => {
  it('reads TLS and gRPC parameters under all their names', () => {
    const link =
      'trojan://p%40ss:word@h.example:443?peer=s.example&allowInsecure=1&alpn=h2%2Chttp%2F1.1&fp=chrome&type=grpc&serviceName=svc#n';
    expect(parseLink(link)).toEqual({
      type: 'trojan',
      name: 'n',
      server: 'h.example',
      port: 443,
      password: 'p@ss:word',
      tls: { sni: 's.example', skipCertVerify: true, alpn: ['h2', 'http/1.1'], clientFingerprint: 'chrome' },
      transport: { type: 'grpc', serviceName: 'svc' },
    });
  });

  it.each([
    ['trojan://@h.example:443', 'missing_field', 'password'],
    ['trojan://x@h.example:443?security=none', 'unsupported_security', 'security'],
    ['trojan://x@h.example:443?encryption=ss%3Baes-128-gcm%3Bp', 'unsupported_option', 'encryption'],
    ['trojan://x@h.example:443?type=sctp', 'unsupported_transport', 'network'],
    ['trojan://x@h.example:443?allowInsecure=maybe', 'invalid_field', 'allowInsecure'],
    ['trojan://x@h.example:443?security=reality', 'missing_field', 'reality-opts.public-key'],
  ])('%s is refused as %s', (link, code, field) => {
    expect(failure(link)).toEqual({ code, field });
  });
});

describe('vmess links', () => {
  const node = {
    type: 'vmess',
    name: 'n',
    server: 'h.example',
    port: 443,
    uuid: UUID,
    alterId: 0,
    cipher: 'auto',
    tls: { sni: 'c.example' },
    transport: { type: 'ws', path: '/p', headers: { Host: 'c.example' } },
  };
  const json = {
    v: '2',
    ps: 'n',
    add: 'h.example',
    port: '443',
    id: UUID,
    aid: '0',
    net: 'ws',
    type: 'none',
    host: 'c.example',
    path: '/p',
    tls: 'tls',
  };

  it.each([
    ['v2rayN JSON', `vmess://${b64(JSON.stringify(json))}`],
    [
      'numbers instead of texts, URL-safe, unpadded',
      `vmess://${b64url(JSON.stringify({ ...json, port: 443, aid: 0, v: 2 }))}`,
    ],
    ['AEAD URI', `vmess://${UUID}@h.example:443?encryption=auto&security=tls&type=ws&host=c.example&path=%2Fp#n`],
    [
      'Shadowrocket',
      `vmess://${b64(`auto:${UUID}@h.example:443`)}?remarks=n&obfs=websocket&obfsParam=c.example&path=/p&tls=1&alterId=0`,
    ],
    [
      'Shadowrocket with headers as JSON',
      `vmess://${b64(`auto:${UUID}@h.example:443`)}?remarks=n&obfs=websocket&obfsParam=${encodeURIComponent('{"Host":"c.example"}')}&path=/p&tls=1`,
    ],
    ['Kitsunebi', `vmess://${b64(`auto:${UUID}@h.example:443`)}?network=ws&wsPath=/p&wsHost=c.example&tls=1&aid=0#n`],
  ])('%s', (_name, link) => {
    expect(parseLink(link)).toEqual(node);
  });

  it.each([
    [
      { net: 'grpc', path: 'svc', type: 'multi', host: '' },
      { type: 'grpc', serviceName: 'svc', multiMode: true },
    ],
    [
      { net: 'h2', host: 'a,b' },
      { type: 'h2', hosts: ['a', 'b'], path: '/p' },
    ],
    [
      { net: 'tcp', type: 'http', host: 'a,b', path: '/x,/y' },
      { type: 'http', path: ['/x', '/y'], headers: { Host: ['a', 'b'] } },
    ],
    [
      { net: 'kcp', type: 'srtp', path: 'seed' },
      { type: 'kcp', seed: 'seed', headerType: 'srtp' },
    ],
    [{ net: 'httpupgrade' }, { type: 'httpupgrade', path: '/p', headers: { Host: 'c.example' } }],
    [
      { net: 'xhttp', type: 'stream-up' },
      { type: 'xhttp', path: '/p', host: 'c.example', mode: 'stream-up' },
    ],
  ])('transport %j', (change, transport) => {
    expect(parseLink(`vmess://${b64(JSON.stringify({ ...json, ...change }))}`)).toMatchObject({ transport });
  });

  it.each([
    ['vmess://%%%', 'invalid_base64', undefined],
    [`vmess://${b64('{"add":')}`, 'invalid_json', undefined],
    [`vmess://${b64('{"ps":"x"}')}`, 'missing_field', 'add'],
    [`vmess://${b64(JSON.stringify({ ...json, port: '44x' }))}`, 'invalid_port', 'port'],
    [`vmess://${b64(JSON.stringify({ ...json, id: 'x'.repeat(40) }))}`, 'invalid_uuid', 'id'],
    [`vmess://${b64(JSON.stringify({ ...json, aid: -1 }))}`, 'invalid_field', 'aid'],
    [`vmess://${b64(JSON.stringify({ ...json, scy: 'rot13' }))}`, 'invalid_field', 'cipher'],
    [`vmess://${b64(JSON.stringify({ ...json, path: { a: 1 } }))}`, 'invalid_field', 'path'],
    [`vmess://${b64(JSON.stringify({ ...json, path: 'a\0' }))}`, 'invalid_field', 'transport.path'],
  ])('%s is refused as %s', (link, code, field) => {
    expect(failure(link)).toEqual({ code, field });
  });
});

describe('vless links', () => {
  it('REALITY with vision', () => {
    const link = `vless://${UUID}@[2001:db8::1]:443?encryption=none&flow=xtls-rprx-vision&security=reality&sni=www.example.org&fp=chrome&pbk=${PBK}&sid=6ba85179e30d4fc2&spx=%2F&type=tcp#n`;
    expect(parseLink(link)).toEqual({
      type: 'vless',
      name: 'n',
      server: '2001:db8::1',
      port: 443,
      uuid: UUID,
      flow: 'xtls-rprx-vision',
      tls: {
        sni: 'www.example.org',
        clientFingerprint: 'chrome',
        reality: { publicKey: PBK, shortId: '6ba85179e30d4fc2', spiderX: '/' },
      },
    });
  });

  it.each([
    [
      'type=ws&path=%2Fa%3Fed%3D2048&host=c.example',
      {
        type: 'ws',
        path: '/a',
        headers: { Host: 'c.example' },
        maxEarlyData: 2048,
        earlyDataHeaderName: 'Sec-WebSocket-Protocol',
      },
    ],
    ['type=http&host=a.example&path=%2Fh', { type: 'h2', hosts: ['a.example'], path: '/h' }],
    ['type=httpupgrade&path=u', { type: 'httpupgrade', path: '/u' }],
    ['type=splithttp&mode=auto', { type: 'xhttp', path: '/' }],
    [
      'type=grpc&serviceName=s&mode=gun&authority=a.example',
      { type: 'grpc', serviceName: 's', authority: 'a.example' },
    ],
  ])('%s', (query, transport) => {
    expect(parseLink(`vless://${UUID}@h.example:443?${query}`)).toMatchObject({ transport });
  });

  it('encryption other than none is kept', () => {
    expect(parseLink(`vless://${UUID}@h.example:443?encryption=mlkem768x25519plus.native.0rtt.x`)).toMatchObject({
      encryption: 'mlkem768x25519plus.native.0rtt.x',
    });
  });

  it.each([
    [`vless://@h.example:443`, 'missing_field', 'uuid'],
    [`vless://${UUID}@h.example:443?security=xtls`, 'unsupported_security', 'security'],
    [`vless://${UUID}@h.example:443?security=reality&pbk=short`, 'invalid_field', 'reality-opts.public-key'],
    [`vless://${UUID}@h.example:443?security=reality&pbk=${PBK}&sid=xyz`, 'invalid_field', 'reality-opts.short-id'],
  ])('%s is refused as %s', (link, code, field) => {
    expect(failure(link)).toEqual({ code, field });
  });
});

it('unknown schemes, texts that are not links and endless links are refused', () => {
  expect(failure('gopher://h.example').code).toBe('unsupported_scheme');
  expect(failure('h.example').code).toBe('invalid_link');
  expect(failure(`trojan://${'x'.repeat(70_000)}@h:1`).code).toBe('entry_too_large');
});

it('an internationalised host is kept in its ASCII form', () => {
  expect(parseLink('trojan://p@例え.jp:443')).toMatchObject({ server: 'xn--r8jz45g.jp' });
});
