import type { ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { maskSecrets, maskUrl } from './mask-secrets.js';

const nodes: ProxyNode[] = [
  {
    type: 'ss',
    name: 'a',
    server: 's.example',
    port: 1,
    cipher: 'aes-128-gcm',
    password: 'SECRET',
    plugin: { name: 'obfs', options: { mode: 'http', password: 'SECRET' } },
  },
  {
    type: 'socks5',
    name: 'a',
    server: 's.example',
    port: 1,
    username: 'SECRET',
    password: 'SECRET',
    tls: { privateKey: 'SECRET', certificate: 'SECRET' },
  },
  {
    type: 'http',
    name: 'a',
    server: 's.example',
    port: 1,
    headers: { Authorization: 'SECRET', 'X-Anything': 'SECRET', Host: 'h.example' },
  },
  {
    type: 'vless',
    name: 'a',
    server: 's.example',
    port: 1,
    uuid: 'SECRET',
    tls: { reality: { publicKey: 'open' } },
    transport: { type: 'ws', path: 'SECRET', headers: { Cookie: 'SECRET', host: 'h.example' } },
  },
  {
    type: 'wireguard',
    name: 'a',
    server: 's.example',
    port: 1,
    options: {
      'private-key': 'SECRET',
      'pre-shared-key': 'SECRET',
      'public-key': 'open',
      peers: [{ 'preshared-key': 'SECRET' }],
    },
  },
  {
    type: 'hysteria',
    name: 'a',
    server: 's.example',
    port: 1,
    options: { 'auth-str': 'SECRET', auth_str: 'SECRET', obfs: 'SECRET', token: 'SECRET' },
  },
  {
    type: 'hysteria2',
    name: 'a',
    server: 's.example',
    port: 1,
    options: { obfs: 'salamander', 'obfs-password': 'SECRET' },
  },
  {
    type: 'ssr',
    name: 'a',
    server: 's.example',
    port: 1,
    options: { obfs: 'plain', protocol: 'origin', 'protocol-param': 'SECRET', 'obfs-param': 'SECRET' },
  },
  {
    type: 'ss',
    name: 'a',
    server: 's.example',
    port: 1,
    cipher: 'aes-128-gcm',
    password: 'SECRET',
    plugin: { name: 'v2ray-plugin', options: { mode: 'websocket', headers: 'SECRET' } },
  },
  { type: 'snell', name: 'a', server: 's.example', port: 1, options: { psk: 'SECRET' } },
];

describe('maskSecrets', () => {
  it.each(nodes)('hides every secret of $type and nothing else', (node) => {
    const masked = JSON.stringify(maskSecrets(node));
    expect(masked).not.toContain('SECRET');
    expect(JSON.parse(masked)).toEqual(JSON.parse(JSON.stringify(node).replaceAll('"SECRET"', '"***"')));
  });
});

describe('maskUrl', () => {
  it.each([
    ['https://u:p@host.example:8443/sub/0123456789abcdef01?token=x#f', 'https://***@host.example:8443/***?***'],
    ['http://host.example/s/Ab3dE6gH', 'http://host.example/***'],
    ['http://host.example/', 'http://host.example/'],
    ['not a url', '***'],
  ])('%s', (url, masked) => {
    expect(maskUrl(url)).toBe(masked);
  });
});
