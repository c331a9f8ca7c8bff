import type { PublicationTarget } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { parseLink } from '../links/registry.js';
import { parseRawConfig } from '../raw-config.js';
import { Unsayable } from './target.js';
import { writeNode } from './write-node.js';

const UUID = '11111111-2222-4333-8444-555555555555';
const KEY = 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0';
const NODES = {
  ss: 'ss://YWVzLTEyOC1nY206cCx3@h.example:1#a',
  'ss obfs': 'ss://YWVzLTEyOC1nY206cHc@h.example:1?plugin=obfs-local%3Bobfs%3Dtls%3Bobfs-host%3Do.example#a',
  'vmess ws': `vmess://${UUID}@h.example:443?encryption=aes-128-gcm&type=ws&host=c.example&path=%2Fw&security=tls&sni=s.example#a`,
  'vless reality': `vless://${UUID}@h.example:443?security=reality&sni=s.example&flow=xtls-rprx-vision&pbk=${KEY}&sid=08&fp=chrome#a`,
  'vless grpc': `vless://${UUID}@h.example:443?security=tls&type=grpc&serviceName=g#a`,
  'vless xhttp': `vless://${UUID}@h.example:443?security=tls&type=xhttp&path=%2Fx#a`,
  'trojan unverified': 'trojan://p@h.example:443?sni=s.example&allowInsecure=1#a',
  'trojan pinned': `trojan://p@h.example:443?sni=s.example&pcs=${'ab'.repeat(32)}#a`,
  'hysteria2 hopping':
    'hysteria2://p@h.example:443?mport=443,5000-6000&sni=s.example&obfs=salamander&obfs-password=m#a',
  tuic: `tuic://${UUID}:p@h.example:443?sni=s.example&alpn=h3&congestion_control=bbr#a`,
  wireguard:
    'wireguard://eCtXsJZ27%2B4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU%3D@h.example:51820?publickey=Cr8hWlKvtDt7nrvf%2Bf0brNQQzabAqrjfBvas9pmowjo%3D&address=10.0.0.2%2F32#a',
  'chained ss': `{"type":"ss","name":"a","server":"h.example","port":1,"cipher":"aes-128-gcm","password":"p","dialer-proxy":"b"}`,
} as const;

/** What a target says of each node: its line, or what it has no word for. */
const OUTCOMES: Partial<Record<PublicationTarget, Record<keyof typeof NODES, string>>> = {
  surge: {
    ss: 'a = ss, h.example, 1, encrypt-method=aes-128-gcm, password="p,w"',
    'ss obfs': 'a = ss, h.example, 1, encrypt-method=aes-128-gcm, password=pw, obfs=tls, obfs-host=o.example',
    'vmess ws': `a = vmess, h.example, 443, username=${UUID}, encrypt-method=aes-128-gcm, vmess-aead=true, ws=true, ws-path="/w", ws-headers="Host:c.example", tls=true, sni=s.example`,
    'vless reality': 'no vless',
    'vless grpc': 'no vless',
    'vless xhttp': 'no vless',
    'trojan unverified': 'a = trojan, h.example, 443, password=p, sni=s.example, skip-cert-verify=true',
    'trojan pinned': `a = trojan, h.example, 443, password=p, sni=s.example, server-cert-fingerprint-sha256=${'ab'.repeat(32)}`,
    'hysteria2 hopping':
      'a = hysteria2, h.example, 443, password=p, port-hopping="443;5000-6000", salamander-password=m, sni=s.example',
    tuic: `a = tuic-v5, h.example, 443, uuid=${UUID}, password=p, alpn=h3, sni=s.example`,
    wireguard: 'no wireguard',
    'chained ss': 'a = ss, h.example, 1, encrypt-method=aes-128-gcm, password=p, underlying-proxy=b',
  },
  loon: {
    ss: 'a = Shadowsocks,h.example,1,aes-128-gcm,"p,w"',
    'ss obfs': 'a = Shadowsocks,h.example,1,aes-128-gcm,"pw",obfs-name=tls,obfs-host=o.example',
    'vmess ws': `a = vmess,h.example,443,aes-128-gcm,"${UUID}",transport=ws,path="/w",host=c.example,alterId=0,over-tls=true,tls-name=s.example`,
    'vless reality': `a = VLESS,h.example,443,"${UUID}",transport=tcp,flow=xtls-rprx-vision,over-tls=true,tls-name=s.example,public-key=${KEY},short-id=08`,
    'vless grpc': 'no transport grpc',
    'vless xhttp': 'no transport xhttp',
    'trojan unverified': 'a = trojan,h.example,443,"p",transport=tcp,tls-name=s.example,skip-cert-verify=true',
    'trojan pinned': `a = trojan,h.example,443,"p",transport=tcp,tls-name=s.example,tls-cert-sha256=${'ab'.repeat(32)}`,
    'hysteria2 hopping':
      'a = Hysteria2,h.example,443,"p",server-ports="443,5000-6000",salamander-password=m,tls-name=s.example',
    tuic: 'no tuic',
    wireguard: 'no wireguard',
    'chained ss': 'no dialerProxy',
  },
  'quantumult-x': {
    ss: 'no password',
    'ss obfs': 'shadowsocks=h.example:1, method=aes-128-gcm, password=pw, obfs=tls, obfs-host=o.example, tag=a',
    'vmess ws': `vmess=h.example:443, method=aes-128-gcm, password=${UUID}, obfs=wss, obfs-host=c.example, obfs-uri=/w, tls-host=s.example, aead=true, tag=a`,
    'vless reality': `vless=h.example:443, method=none, password=${UUID}, obfs=over-tls, obfs-host=s.example, reality-base64-pubkey=${KEY}, reality-hex-shortid=08, vless-flow=xtls-rprx-vision, tag=a`,
    'vless grpc': 'no transport grpc',
    'vless xhttp': 'no transport xhttp',
    'trojan unverified':
      'trojan=h.example:443, password=p, over-tls=true, tls-host=s.example, tls-verification=false, tag=a',
    'trojan pinned': `trojan=h.example:443, password=p, over-tls=true, tls-host=s.example, tls-cert-sha256=${'ab'.repeat(32)}, tag=a`,
    'hysteria2 hopping': 'no hysteria2',
    tuic: 'no tuic',
    wireguard: 'no wireguard',
    'chained ss': 'no dialerProxy',
  },
};

const cases = Object.entries(OUTCOMES).flatMap(([target, outcomes]) =>
  Object.entries(outcomes).map(
    ([what, expected]) => [target as PublicationTarget, what as keyof typeof NODES, expected] as const,
  ),
);

function outcome(target: PublicationTarget, what: keyof typeof NODES): unknown {
  const text = NODES[what];
  try {
    return writeNode(target, text.startsWith('{') ? parseRawConfig('', text) : parseLink(text)).entry;
  } catch (error) {
    if (error instanceof Unsayable) return `no ${error.field}`;
    throw error;
  }
}

describe('lines of clients', () => {
  it.each(cases)('%s: %s', (target, what, expected) => {
    expect(outcome(target, what)).toBe(expected);
  });
});

describe('sing-box', () => {
  it('has REALITY with an imitated hello, which it needs', () => {
    expect(outcome('sing-box', 'vless reality')).toEqual({
      type: 'vless',
      tag: 'a',
      server: 'h.example',
      server_port: 443,
      uuid: UUID,
      flow: 'xtls-rprx-vision',
      tls: {
        enabled: true,
        server_name: 's.example',
        utls: { enabled: true, fingerprint: 'chrome' },
        reality: { enabled: true, public_key: KEY, short_id: '08' },
      },
    });
  });

  it('has the hosts of HTTP/2 as a list, which is read back', () => {
    const link = `vmess://${UUID}@h.example:443?type=http&host=c.example,d.example&path=%2Fh&security=tls#a`;
    expect(writeNode('sing-box', parseLink(link))).toMatchObject({
      entry: { transport: { type: 'http', host: ['c.example', 'd.example'], path: '/h' } },
      lost: [],
    });
  });

  it('has WireGuard as an endpoint', () => {
    expect(outcome('sing-box', 'wireguard')).toMatchObject({
      type: 'wireguard',
      address: ['10.0.0.2/32'],
      peers: [{ address: 'h.example', port: 51_820, allowed_ips: ['0.0.0.0/0', '::/0'] }],
    });
  });

  it('has no pinned certificates and no XHTTP, so such nodes are left out', () => {
    expect(outcome('sing-box', 'trojan pinned')).toBe('no tls.fingerprint');
    expect(outcome('sing-box', 'vless xhttp')).toBe('no transport xhttp');
  });
});

describe('Clash', () => {
  it.each([
    [`vmess://${UUID}@h.example:1?type=kcp#a`, 'no transport kcp'],
    [`trojan://p@h.example:443?type=xhttp#a`, 'no transport xhttp'],
    [`trojan://p@h.example:443?pcs=${'ab'.repeat(32)},${'cd'.repeat(32)}#a`, 'no tls.fingerprint'],
    ['naive+https://u:p@h.example:443#a', 'no naive'],
  ])('%s, which mihomo would take for something else, is left out', (link, expected) => {
    let said: unknown;
    try {
      said = writeNode('clash', parseLink(link)).entry;
    } catch (error) {
      said = error instanceof Unsayable ? `no ${error.field}` : error;
    }
    expect(said).toBe(expected);
  });
});
