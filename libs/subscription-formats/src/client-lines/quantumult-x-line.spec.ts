import { describe, expect, it } from 'vitest';
import { fingerprintNode } from '../fingerprint.js';
import { parseLink } from '../links/registry.js';
import { parseSubscription } from '../parse-subscription.js';
import { parseRawConfig } from '../raw-config.js';

const UUID = '11111111-2222-4333-8444-555555555555';
const KEY = 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0';

describe('lines of Quantumult X', () => {
  it.each([
    [
      'shadowsocks=h.example:1, method=aes-128-gcm, password=p, obfs=http, obfs-host=o.example, obfs-uri=/x, tag=a',
      `ss://${btoa('aes-128-gcm:p')}@h.example:1?plugin=obfs-local%3Bobfs%3Dhttp%3Bobfs-host%3Do.example%3Bobfs-uri%3D%2Fx`,
    ],
    [
      'shadowsocks=h.example:1, method=none, password=p, obfs=wss, obfs-host=o.example, obfs-uri=/w, tag=a',
      `ss://${btoa('none:p')}@h.example:1?plugin=v2ray-plugin%3Bmode%3Dwebsocket%3Bmux%3D0%3Btls%3Bhost%3Do.example%3Bpath%3D%2Fw`,
    ],
    [
      `vmess=h.example:443, method=chacha20-poly1305, password=${UUID}, obfs=wss, obfs-host=c.example, obfs-uri=/w, tls-host=s.example, tag=a`,
      `vmess://${UUID}@h.example:443?encryption=chacha20-poly1305&type=ws&host=c.example&path=%2Fw&security=tls&sni=s.example`,
    ],
    [
      `vmess=h.example:80, method=none, password=${UUID}, obfs=vmess-http, obfs-host=c.example, obfs-uri=/w, tag=a`,
      `vmess://${UUID}@h.example:80?encryption=none&type=tcp&headerType=http&host=c.example&path=%2Fw`,
    ],
    [
      `vless=h.example:443, method=none, password=${UUID}, obfs=over-tls, obfs-host=s.example, reality-base64-pubkey=${KEY}, reality-hex-shortid=08, vless-flow=xtls-rprx-vision, tag=a`,
      `vless://${UUID}@h.example:443?security=reality&sni=s.example&flow=xtls-rprx-vision&pbk=${KEY}&sid=08`,
    ],
    [
      'trojan=h.example:443, password=p, over-tls=true, tls-host=s.example, tls-verification=false, tag=a',
      'trojan://p@h.example:443?sni=s.example&allowInsecure=1',
    ],
    [
      'anytls=h.example:443, password=p, over-tls=true, tls-host=s.example, tag=a',
      'anytls://p@h.example:443?sni=s.example',
    ],
    ['http=h.example:8080, username=u, password=p, tag=a', 'http://u:p@h.example:8080'],
    [
      'socks5=h.example:1, username=u, password=p, over-tls=true, tls-host=s.example, tag=a',
      'socks5://u:p@h.example:1?tls=1&sni=s.example',
    ],
  ])('%s is the node of the link', (line, link) => {
    const node = parseRawConfig('', line);
    expect(node.name).toBe('a');
    expect(fingerprintNode(node)).toBe(fingerprintNode(parseLink(link)));
  });

  it('ShadowsocksR is recognised by its protocol or obfuscation', () => {
    const line =
      'shadowsocks=h.example:1, method=rc4-md5, password=p, ssr-protocol=auth_aes128_md5, obfs=plain, obfs-host=o.example, tag=a';
    expect(parseRawConfig('', line)).toMatchObject({
      type: 'ssr',
      options: { cipher: 'rc4-md5', protocol: 'auth_aes128_md5', obfs: 'plain', 'obfs-param': 'o.example' },
    });
  });

  it('only [server_local] of a configuration is read, and a bad line says which without its password', () => {
    const result = parseSubscription(
      [
        '[general]',
        'server_check_url = http://check.example/',
        '[policy]',
        'static=Select, a, direct',
        '[server_local]',
        '; a comment',
        'trojan=h.example:443, password=p, tag=a',
        'trojan=h.example:99999, password=VERYSECRET, tag=b',
        'shadowsocks=h.example:1, method=aes-128-gcm, password=p, obfs=quic, tag=c',
        '[filter_local]',
        'final, Select',
      ].join('\n'),
    );
    expect(result.format).toBe('quantumult-x');
    expect(result.nodes.map(({ line, node }) => [line, node.name])).toEqual([[7, 'a']]);
    expect(result.skipped).toMatchObject([
      { line: 8, name: 'b', reason: 'invalid_port' },
      { line: 9, name: 'c', reason: 'unsupported_option' },
    ]);
    expect(JSON.stringify(result.skipped)).not.toContain('VERYSECRET');
  });

  it('a stored line is read again as the same node', () => {
    const { nodes, format } = parseSubscription('vmess=h.example:443, password=' + UUID + ', obfs=wss, tag=a\n');
    expect(format).toBe('quantumult-x');
    expect(fingerprintNode(parseRawConfig('', nodes[0]?.raw ?? ''))).toBe(nodes[0]?.fingerprint);
  });
});
