import { describe, expect, it } from 'vitest';
import { fromClashEntry } from './clash/from-entry.js';
import { fingerprintNode } from './fingerprint.js';
import { formatLink, parseLink } from './links/registry.js';

const UUID = 'b831381d-6324-4d53-ad4f-8cda48b30811';
const print = (link: string) => fingerprintNode(parseLink(link));
const entry = (change: Record<string, unknown>) =>
  fingerprintNode(fromClashEntry({ name: 'x', type: 'vless', server: 'h.example', port: 443, uuid: UUID, ...change }));

describe('defaults count as absent', () => {
  it.each([
    ['server name that is the server', `vless://${UUID}@h.example:443?security=tls&sni=H.example`, { tls: true }],
    [
      'switches that are off',
      `vless://${UUID}@h.example:443?security=tls&allowInsecure=0`,
      { tls: true, 'skip-cert-verify': false, udp: true },
    ],
    [
      'encryption none and no flow',
      `vless://${UUID.toUpperCase()}@h.example:443?encryption=none&flow=none`,
      { encryption: 'none' },
    ],
    ['imitated ClientHello', `vless://${UUID}@h.example:443?security=tls&fp=chrome`, { tls: true }],
    [
      'Host that is the server',
      `vless://${UUID}@h.example:443?type=ws&path=/`,
      { network: 'ws', 'ws-opts': { headers: { host: 'h.example' } } },
    ],
    [
      'early data',
      `vless://${UUID}@h.example:443?type=ws&path=%2Fa%3Fed%3D2560`,
      { network: 'ws', 'ws-opts': { path: '/a' } },
    ],
    [
      'server name taken from Host',
      `vless://${UUID}@h.example:443?security=tls&type=ws&host=c.example`,
      { tls: true, servername: 'c.example', network: 'ws', 'ws-opts': { path: '/', headers: { Host: 'c.example' } } },
    ],
    ['UDP encoding', `vless://${UUID}@h.example:443?packetEncoding=xudp`, { xudp: true }],
    [
      'HTTP disguise',
      `vless://${UUID}@h.example:443?type=tcp&headerType=http&host=a.example`,
      { network: 'http', 'http-opts': { method: 'GET', path: ['/'], headers: { Host: ['a.example'] } } },
    ],
  ])('%s', (_name, link, change) => {
    expect(print(link)).toBe(entry(change));
  });

  it('options that decide where a node connects and what it trusts count', () => {
    const links = [
      '',
      '?security=tls',
      '?security=tls&sni=s.example',
      '?security=tls&allowInsecure=1',
      '?security=tls&alpn=h2',
      '?type=ws',
      '?type=ws&path=%2Fa',
      '?type=ws&host=c.example',
      '?type=httpupgrade',
      '?flow=xtls-rprx-vision',
      '?dialer-proxy=relay',
    ].map((query) => `vless://${UUID}@h.example:443${query}`);
    expect(new Set(links.map(print)).size).toBe(links.length);
  });

  it('option values cannot be confused with one another', () => {
    const node = (options: Record<string, unknown>) =>
      fingerprintNode({ type: 'ssh', name: 'n', server: 'h', port: 22, options });
    expect(node({ a: '1,1:b=1:2' })).not.toBe(node({ a: '1', b: '2' }));
    expect(node({ a: 1 })).not.toBe(node({ a: '1' }));
    expect(node({ a: ['x', 'y'] })).not.toBe(node({ a: ['x,y'] }));
  });
});

it('a list item with a comma survives a link', () => {
  const node = fromClashEntry({ name: 'n', type: 'tuic', server: 'h', port: 1, token: 't', alpn: ['a,b', 'c'] });
  expect(parseLink(formatLink(node))).toEqual(node);
});
