import { describe, expect, it } from 'vitest';
import { fingerprintNode } from '../fingerprint.js';
import { parseLink } from '../links/registry.js';
import { parseSubscription } from '../parse-subscription.js';
import { parseRawConfig } from '../raw-config.js';

const UUID = '11111111-2222-4333-8444-555555555555';

describe('Surge', () => {
  it('only the [Proxy] section of a configuration is read', () => {
    const result = parseSubscription(
      [
        '#!MANAGED-CONFIG https://sub.example/x interval=86400',
        '[General]',
        'loglevel = notify',
        '[Proxy]',
        'DIRECT2 = direct',
        'HK = ss, hk.example, 8388, encrypt-method=aes-128-gcm, password="a,b=c", udp-relay=true',
        'bad = trojan, t.example, 99999, password=p',
        'odd = wireguard, section-name = x',
        '[Proxy Group]',
        'Select = select, HK, DIRECT2',
        '[Rule]',
        'FINAL, Select',
      ].join('\r\n'),
    );
    expect(result).toMatchObject({ format: 'surge', ignored: 1 });
    expect(result.nodes.map(({ line, node }) => [line, node])).toEqual([
      [
        6,
        {
          type: 'ss',
          name: 'HK',
          server: 'hk.example',
          port: 8388,
          cipher: 'aes-128-gcm',
          password: 'a,b=c',
          udp: true,
        },
      ],
    ]);
    expect(result.skipped).toMatchObject([
      { line: 7, name: 'bad', reason: 'invalid_port' },
      { line: 8, name: 'odd', reason: 'unsupported_type' },
    ]);
  });

  it.each([
    [
      'a = ss, h.example, 1, encrypt-method=aes-128-gcm, password=p, obfs=http, obfs-host=o.example',
      `ss://${btoa('aes-128-gcm:p')}@h.example:1?plugin=obfs-local%3Bobfs%3Dhttp%3Bobfs-host%3Do.example`,
    ],
    [
      'a = trojan, h.example, 443, password=p, sni=s.example, skip-cert-verify=true, ws=true, ws-path=/w, ws-headers=Host:c.example',
      'trojan://p@h.example:443?sni=s.example&allowInsecure=1&type=ws&path=%2Fw&host=c.example',
    ],
    ['a = http, h.example, 8080, user, "p,w"', 'http://user:p%2Cw@h.example:8080'],
    ['a = https, h.example, 443, username=user, password=pw', 'https://user:pw@h.example:443'],
    ['a = socks5, 192.0.2.1, 1080', 'socks5://192.0.2.1:1080'],
    ['a = socks5-tls, h.example, 1080, u, p, sni=s.example', 'socks5://u:p@h.example:1080?tls=1&sni=s.example'],
    ['a = hysteria2, h.example, 443, password=p, sni=s.example', 'hysteria2://p@h.example:443?sni=s.example'],
    ['a = tuic-v5, h.example, 443, uuid=' + UUID + ', password=p, alpn=h3', `tuic://${UUID}:p@h.example:443?alpn=h3`],
    ['a = anytls, h.example, 443, password=p', 'anytls://p@h.example:443'],
  ])('%s is the node of the link', (line, link) => {
    expect(fingerprintNode(parseRawConfig('', line))).toBe(fingerprintNode(parseLink(link)));
  });

  it('vmess over WebSocket and TLS', () => {
    const line = `v = vmess, h.example, 443, username=${UUID}, ws=true, ws-path="/p,q", ws-headers=Host:"c.example"|X-A:b, tls=true, sni=s.example, vmess-aead=true`;
    expect(parseSubscription(line).nodes[0]?.node).toEqual({
      type: 'vmess',
      name: 'v',
      server: 'h.example',
      port: 443,
      uuid: UUID,
      alterId: 0,
      cipher: 'auto',
      tls: { sni: 's.example' },
      transport: { type: 'ws', path: '/p,q', headers: { Host: 'c.example', 'X-A': 'b' } },
    });
  });

  it('snell, ssh and a chain are stored with their options', () => {
    const result = parseSubscription(
      'a = snell, h.example, 1, psk=k, version=4, obfs=http\nb = ssh, h.example, 22, username=u, password=p, underlying-proxy=a',
    );
    expect(result.nodes.map(({ node }) => node)).toMatchObject([
      { type: 'snell', options: { psk: 'k', version: 4, 'obfs-opts': { mode: 'http' } } },
      { type: 'ssh', dialerProxy: 'a', options: { username: 'u', password: 'p' } },
    ]);
  });

  it('a bad line shows no credential', () => {
    const { skipped } = parseSubscription('a = ss, h.example, high, encrypt-method=aes-128-gcm, password=VERYSECRET\n');
    expect(skipped).toMatchObject([{ name: 'a' }]);
    expect(JSON.stringify(skipped)).not.toContain('VERYSECRET');
  });
});
