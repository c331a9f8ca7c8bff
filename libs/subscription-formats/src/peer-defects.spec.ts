import { describe, expect, it } from 'vitest';
import { fingerprintNode } from './fingerprint.js';
import { formatLink, parseLink } from './links/registry.js';
import { parseSubscription } from './parse-subscription.js';
import { parseUserinfo } from './response-headers.js';

/**
 * Defects of well-known programs that must not exist here. Each test is named after the correct behaviour, and tests with one
 * number are about one defect.
 */

const b64 = (text: string) => Buffer.from(text).toString('base64');

describe('links', () => {
  it('1: a trojan link over WebSocket keeps its Host header and gets no others', () => {
    const link = 'trojan://p@h.example:443?type=ws&host=cdn.example&path=%2Fws#n';
    const node = parseLink(link);
    expect(node).toMatchObject({ transport: { type: 'ws', path: '/ws', headers: { Host: 'cdn.example' } } });
    expect(fingerprintNode(parseLink(link))).toBe(fingerprintNode(node));
  });

  it('2: certificates of http and socks proxies are verified by default', () => {
    for (const link of ['https://u:p@h.example:443', 'socks5://u:p@h.example:1080?tls=1']) {
      expect(parseLink(link)).toMatchObject({ tls: {} });
      expect(JSON.stringify(parseLink(link))).not.toContain('skipCertVerify');
    }
  });

  it('2: a proxy password keeps its colons', () => {
    expect(parseLink('http://user:a:b:c@h.example:8080')).toMatchObject({ username: 'user', password: 'a:b:c' });
    expect(parseLink(`socks://${b64('user:a:b:c')}@h.example:1080`)).toMatchObject({ password: 'a:b:c' });
  });

  it('2: a plugin without options is kept', () => {
    expect(parseLink(`ss://${b64('aes-128-gcm:p')}@h.example:1?plugin=v2ray-plugin`)).toMatchObject({
      plugin: { name: 'v2ray-plugin', options: { mode: 'websocket' } },
    });
  });

  it('2: a hysteria2 password is decoded, and its range of ports is kept', () => {
    expect(parseLink('hysteria2://p%40ss%25@h.example:443?mport=5000-6000')).toMatchObject({
      port: 443,
      options: { password: 'p@ss%', ports: '5000-6000' },
    });
    expect(parseLink('hy2://p@h.example:443,7000-8000')).toMatchObject({ options: { ports: '443,7000-8000' } });
  });

  it('9: a legacy ss link may carry a plugin', () => {
    const link = `ss://${b64('aes-128-gcm:p@h.example:1')}?plugin=${encodeURIComponent('v2ray-plugin;tls;host=c.example')}#n`;
    expect(parseLink(link)).toMatchObject({
      server: 'h.example',
      plugin: { name: 'v2ray-plugin', options: { tls: true, host: 'c.example' } },
    });
  });
});

/** What other clients write into links, which would be another node if it were left out. */
describe('options of links', () => {
  const uuid = '11111111-2222-4333-8444-555555555555';
  const pin = Buffer.alloc(32, 7);

  it.each<[string, object]>([
    ['trojan://p@h.example:443?ws&wspath=/ws', { transport: { type: 'ws', path: '/ws' } }],
    [
      `ss://${b64('aes-128-gcm:p')}@h.example:1?gost=${b64('{"mode":"ws","host":"c.example","tls":true}')}`,
      { plugin: { name: 'gost-plugin', options: { host: 'c.example', tls: true } } },
    ],
    ['hysteria2://p@h.example:443?ech=AEX%2B', { options: { 'ech-opts': { enable: true, config: 'AEX+' } } }],
    [`tuic://${uuid}:p@h.example:443?allow-insecure=1`, { options: { 'skip-cert-verify': true } }],
    [
      `wg://k@h.example:51820?publickey=k&address=10.0.0.2/32,[fd00::2]/128`,
      { options: { ip: '10.0.0.2', ipv6: 'fd00::2' } },
    ],
    [
      `trojan://p@h.example:443?pcs=${encodeURIComponent(`${pin.toString('base64')},${'AB'.repeat(32)}`)}`,
      { tls: { fingerprint: `${pin.toString('hex')},${'ab'.repeat(32)}` } },
    ],
    [
      `vless://${b64(`auto:${uuid}@h.example:443`)}?remarks=n&tls=1&peer=s.example&obfs=websocket&path=/w&obfsParam=c.example&xtls=2`,
      {
        name: 'n',
        uuid,
        flow: 'xtls-rprx-vision',
        tls: { sni: 's.example' },
        transport: { type: 'ws', path: '/w', headers: { Host: 'c.example' } },
      },
    ],
    [
      `vless://${b64(`none:${uuid}@h.example:443`)}?tls=1&pbk=jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0&sid=08`,
      { tls: { reality: { shortId: '08' } } },
    ],
    [
      `vmess://${b64(`n = vmess, h.example, 443, chacha20-ietf-poly1305, "${uuid}", group=g, over-tls=true, tls-host=s.example, certificate=0, obfs=ws, obfs-path="/w", obfs-header="Host: c.example[Rr][Nn]User-Agent: x"`)}`,
      {
        name: 'n',
        cipher: 'chacha20-poly1305',
        tls: { sni: 's.example', skipCertVerify: true },
        transport: { type: 'ws', path: '/w', headers: { Host: 'c.example', 'User-Agent': 'x' } },
      },
    ],
  ])('%s', (link, node) => {
    expect(parseLink(link)).toMatchObject(node);
    expect(fingerprintNode(parseLink(formatLink(parseLink(link))))).toBe(fingerprintNode(parseLink(link)));
  });
});

describe('documents', () => {
  it('3: equal names are kept, because a name is not an identity', () => {
    const list = ['A', 'A', 'A-01'].map((name, i) => `trojan://p@h${i}.example:443#${name}`).join('\n');
    expect(parseSubscription(list).nodes.map((entry) => entry.node.name)).toEqual(['A', 'A', 'A-01']);
  });

  it('4: every unreadable line is reported with its number and reason', () => {
    const result = parseSubscription('trojan://p@h.example:443#ok\n\nvless://nope\n# note\nfoo://x#label\n');
    expect(result.nodes).toHaveLength(1);
    expect(result.skipped).toMatchObject([
      { line: 3, reason: 'missing_field' },
      { line: 5, reason: 'unsupported_scheme', name: 'label' },
    ]);
  });

  it('4: a bad proxy in a Clash document affects no other', () => {
    const result = parseSubscription(
      [
        'proxies:',
        '  - {name: a, type: trojan, server: a.example, port: 443, password: p}',
        '  - {name: b, type: trojan, server: b.example, port: high, password: p}',
        '  - {name: "c, type: trojan}',
        '  - {name: d, type: warp, server: d.example, port: 1}',
        '  - name: e',
        '    type: ss',
        '    server: e.example',
        '    port: 8388',
        '    cipher: aes-128-gcm',
        '    password: 0123',
      ].join('\n'),
    );
    expect(result.nodes.map((entry) => [entry.line, entry.node.name])).toEqual([
      [2, 'a'],
      [6, 'e'],
    ]);
    expect(result.nodes[1]?.node).toMatchObject({ password: '0123' });
    expect(result.skipped.map((entry) => [entry.line, entry.reason, entry.name])).toEqual([
      [3, 'invalid_port', 'b'],
      [4, 'invalid_yaml', 'c'],
      [5, 'unsupported_type', 'd'],
    ]);
  });

  it.each([
    ['', 'empty', 'empty_document'],
    [' \r\n\t', 'empty', 'empty_document'],
    ['<!DOCTYPE html><html><body>login</body></html>', 'html', 'html_response'],
    ['\ufeff\n<HTML>', 'html', 'html_response'],
    ['{"outbounds":[]}', 'sing-box', 'no_entries'],
    ['proxies: []\nrules: []\n', 'clash', 'no_entries'],
    ['proxies:\nrules:\n  - MATCH,DIRECT\n', 'clash', 'no_entries'],
    ['{"message":"token expired"}', 'unknown', 'unknown_format'],
    ['Token is invalid', 'unknown', 'unknown_format'],
  ])('7: %j is an error and never an empty success', (text, format, code) => {
    const result = parseSubscription(text);
    expect(result.format).toBe(format);
    expect(result.error?.code).toBe(code);
    expect(result.nodes).toEqual([]);
  });

  it('5: a document over the limit is refused as a whole, never cut', () => {
    const list = Array.from({ length: 11 }, (_, i) => `trojan://p@h${i}.example:443`).join('\n');
    expect(parseSubscription(list, { maxEntries: 10 })).toMatchObject({
      nodes: [],
      error: { code: 'too_many_entries' },
    });
    expect(parseSubscription(list, { maxEntries: 11 }).nodes).toHaveLength(11);
  });

  it('9: defaults of an SSD server come from the document, never from the server before it', () => {
    const document = {
      airport: 'x',
      port: 1000,
      encryption: 'aes-128-gcm',
      password: 'shared',
      servers: [
        { server: 'a.example', port: 2000, encryption: 'aes-256-gcm', password: 'own', remarks: 'a' },
        { server: 'b.example', remarks: 'b' },
      ],
    };
    const result = parseSubscription(`ssd://${b64(JSON.stringify(document))}`);
    expect(result.format).toBe('ssd');
    expect(result.nodes.map((entry) => entry.node)).toMatchObject([
      { server: 'a.example', port: 2000, cipher: 'aes-256-gcm', password: 'own' },
      { server: 'b.example', port: 1000, cipher: 'aes-128-gcm', password: 'shared' },
    ]);
  });
});

describe('quota header', () => {
  it('9: missing parts are null and do not affect the others', () => {
    expect(parseUserinfo('upload=1; total=3')).toEqual({ upload: 1, download: null, total: 3, expireAt: null });
    expect(parseUserinfo('expire=1700000000')).toMatchObject({ download: null, expireAt: new Date(1_700_000_000_000) });
  });
});
