import { describe, expect, it } from 'vitest';
import { PROXY_NODE_TYPES, type NodeTransport, type ProxyNode } from '@gatehouse/contracts';
import { KernelConfigError, supportsNode } from './index.js';
import { createOutbound } from './registry.js';
import { createDirectDialer } from './transport/server-dialer.js';

const endpoint = { name: 'x', server: 'h.test', port: 1 };
const ss = (cipher: string, more: object = {}): ProxyNode => ({
  ...endpoint,
  type: 'ss',
  cipher,
  password: 'p',
  ...more,
});
const uuid = 'b831381d-6324-4d53-ad4f-8cda48b30811';
const vmess = (more: object = {}): ProxyNode =>
  ({ ...endpoint, type: 'vmess', uuid, alterId: 0, cipher: 'auto', ...more }) as ProxyNode;
const vless = (more: object = {}): ProxyNode => ({ ...endpoint, type: 'vless', uuid, ...more }) as ProxyNode;
const trojan = (transport?: NodeTransport): ProxyNode => ({
  ...endpoint,
  type: 'trojan',
  password: 'p',
  tls: {},
  ...(transport ? { transport } : {}),
});
const plugin = (name: string, options: object = {}): ProxyNode => ss('aes-128-gcm', { plugin: { name, options } });
const key = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64');
const dialer = createDirectDialer({ resolve: () => Promise.resolve([]) });

describe('support of a node', () => {
  it.each<[string, ProxyNode]>([
    ['aes-128-gcm', ss('aes-128-gcm')],
    ['chacha20', ss('chacha20-ietf-poly1305')],
    ['2022', ss('2022-blake3-aes-128-gcm', { password: key(16) })],
    ['2022 with several users', ss('2022-blake3-aes-256-gcm', { password: `${key(32)}:${key(32)}` })],
    ['2022 with chacha20', ss('2022-blake3-chacha20-poly1305', { password: key(32) })],
    ['UDP over TCP', ss('aes-128-gcm', { udpOverTcp: true })],
    ['obfs', plugin('obfs')],
    ['obfs as TLS', plugin('obfs', { mode: 'tls', host: 'a.test' })],
    ['v2ray-plugin', plugin('v2ray-plugin', { mode: 'websocket', tls: true, mux: false })],
    ['socks5 over TLS', { ...endpoint, type: 'socks5', tls: { clientFingerprint: 'chrome' } }],
    ['http', { ...endpoint, type: 'http' }],
    ['trojan', trojan()],
    ['trojan over WebSocket', trojan({ type: 'ws', path: '/' })],
    ['trojan over gRPC', trojan({ type: 'grpc', serviceName: 's', multiMode: true })],
    ['vmess', vmess()],
    ['vmess without a cipher of its own', vmess({ cipher: 'zero', transport: { type: 'http' } })],
    ['vless over an HTTP upgrade', vless({ transport: { type: 'httpupgrade', path: '/' } })],
    ['vless over HTTP/2 by a name', vless({ uuid: 'somebody', transport: { type: 'h2', path: '/' } })],
    ['vless that says it has no encryption', vless({ encryption: 'none', flow: '' })],
    ['anytls', { ...endpoint, type: 'anytls', options: { password: 'p' } }],
    ['ssh', { ...endpoint, type: 'ssh', options: { username: 'u', password: 'p' } }],
    ['a chain', ss('aes-128-gcm', { dialerProxy: 'other' })],
  ])('%s is embedded, and its outbound can be made', (_name, node) => {
    expect(supportsNode(node)).toEqual({ support: 'embedded' });
    expect(createOutbound('n1', node, dialer, 'p').tag).toBe('n1');
  });

  it.each<[string, ProxyNode, 'external' | 'unsupported']>([
    ['2022 with a password that is no key', ss('2022-blake3-aes-128-gcm'), 'unsupported'],
    ['2022 with a cipher only others have', ss('2022-blake3-chacha8-poly1305'), 'external'],
    ['shadow-tls', plugin('shadow-tls', { version: '3' }), 'external'],
    ['restls', plugin('restls'), 'external'],
    ['gost', plugin('gost-plugin', { mode: 'websocket' }), 'external'],
    ['kcptun', plugin('kcptun'), 'external'],
    ['v2ray-plugin over QUIC', plugin('v2ray-plugin', { mode: 'quic' }), 'external'],
    ['an unknown obfuscation', plugin('obfs', { mode: 'xml' }), 'external'],
    ['anytls with ECH', { ...endpoint, type: 'anytls', options: { 'ech-opts': { enable: true } } }, 'external'],
    ['ssh by a key in a file', { ...endpoint, type: 'ssh', options: { 'private-key': '~/.ssh/id' } }, 'external'],
    ['an old cipher', ss('rc4-md5'), 'external'],
    ['an unknown cipher', ss('rot13'), 'unsupported'],
    ['XTLS', vless({ flow: 'xtls-rprx-vision' }), 'external'],
    ['VLESS encryption', vless({ encryption: 'mlkem768x25519plus.native.0rtt.x' }), 'external'],
    ['an old VMess header', vmess({ alterId: 64 }), 'external'],
    ['an old VMess cipher', vmess({ cipher: 'aes-128-cfb' }), 'external'],
    ['an unknown VMess cipher', vmess({ cipher: 'rot13' }), 'unsupported'],
    ['an id that is none', vless({ uuid: 'x'.repeat(31) }), 'unsupported'],
    ['XHTTP', trojan({ type: 'xhttp', path: '/' }), 'external'],
    ['mKCP', vmess({ transport: { type: 'kcp' } }), 'external'],
    ['QUIC', vmess({ transport: { type: 'quic' } }), 'external'],
    ['REALITY under trojan', { ...trojan(), tls: { reality: { publicKey: 'k' } } } as ProxyNode, 'external'],
    ['REALITY', { ...endpoint, type: 'http', tls: { reality: { publicKey: 'k' } } }, 'external'],
    ['ECH', { ...endpoint, type: 'http', tls: { ech: 'x' } }, 'external'],
  ])('%s is not, and says why', (_name, node, support) => {
    const answer = supportsNode(node);
    expect(answer.support).toBe(support);
    expect(answer.reason).toMatch(/.{8}/);
    expect(() => createOutbound('n1', node, dialer, 'outbounds[4]')).toThrow(KernelConfigError);
  });

  it('is known for every type of node', () => {
    for (const type of PROXY_NODE_TYPES) {
      expect(['embedded', 'external', 'unsupported']).toContain(
        supportsNode({ ...vmess(), password: 'p', tls: {}, type, options: {} } as ProxyNode).support,
      );
    }
  });
});
