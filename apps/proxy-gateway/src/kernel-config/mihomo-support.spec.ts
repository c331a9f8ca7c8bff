import type { NodeTransport, ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { mihomoObstacle } from './mihomo-support.js';

const server = { name: 'a', server: 'node.example', port: 443 };
const uuid = '00000000-0000-4000-8000-000000000000';
const xhttp: NodeTransport = { type: 'xhttp', path: '/' };
const vless = (transport?: NodeTransport): ProxyNode => ({
  ...server,
  type: 'vless',
  uuid,
  ...(transport && { transport }),
});

describe('what mihomo carries', () => {
  it.each([
    ['1.10.0', false],
    ['v1.19.13', false],
    ['v1.19.22', true],
    ['v1.20.0', true],
    ['v2.0.0', true],
    ['alpha-1a2b3c4', true],
  ])('version %s carries VLESS over XHTTP: %s', (version, carried) => {
    expect(mihomoObstacle(vless(xhttp), version) === null).toBe(carried);
  });

  it.each<[ProxyNode, string | null]>([
    [vless(), null],
    [vless({ type: 'http' }), null],
    [
      { ...server, type: 'trojan', password: 'p', tls: { fingerprint: 'aa,bb' } },
      'mihomo v1.19.22 takes one pinned certificate, not several',
    ],
    [
      { ...server, type: 'hysteria2', options: { password: 'p', fingerprint: 'aa,bb' } },
      'mihomo v1.19.22 takes one pinned certificate, not several',
    ],
    [vless({ type: 'kcp' }), 'vless over kcp is not carried by mihomo v1.19.22'],
    [
      { ...server, type: 'vmess', uuid, alterId: 0, cipher: 'auto', transport: xhttp },
      'vmess over xhttp is not carried by mihomo v1.19.22',
    ],
    [
      { ...server, type: 'trojan', password: 'p', tls: {}, transport: { type: 'h2', path: '/' } },
      'trojan over h2 is not carried by mihomo v1.19.22',
    ],
    [{ ...server, type: 'trojan', password: 'p', tls: {}, transport: { type: 'grpc', serviceName: 'g' } }, null],
    [{ ...server, type: 'hysteria2', options: { password: 'p' } }, null],
  ])('says why not: %j', (node, obstacle) => {
    expect(mihomoObstacle(node, 'v1.19.22')).toBe(obstacle);
  });
});
