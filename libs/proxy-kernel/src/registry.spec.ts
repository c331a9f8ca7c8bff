import { describe, expect, it } from 'vitest';
import { PROXY_NODE_TYPES, type ProxyNode } from '@gatehouse/contracts';
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
const dialer = createDirectDialer({ resolve: () => Promise.resolve([]) });

describe('support of a node', () => {
  it.each<[string, ProxyNode]>([
    ['aes-128-gcm', ss('aes-128-gcm')],
    ['chacha20', ss('chacha20-ietf-poly1305')],
    ['socks5 over TLS', { ...endpoint, type: 'socks5', tls: { clientFingerprint: 'chrome' } }],
    ['http', { ...endpoint, type: 'http' }],
    ['a chain', ss('aes-128-gcm', { dialerProxy: 'other' })],
  ])('%s is embedded, and its outbound can be made', (_name, node) => {
    expect(supportsNode(node)).toEqual({ support: 'embedded' });
    expect(createOutbound('n1', node, dialer, 'p').tag).toBe('n1');
  });

  it.each<[string, ProxyNode, 'external' | 'unsupported']>([
    ['2022', ss('2022-blake3-aes-128-gcm'), 'external'],
    ['a plugin', ss('aes-128-gcm', { plugin: { name: 'obfs', options: {} } }), 'external'],
    ['UDP over TCP', ss('aes-128-gcm', { udpOverTcp: true }), 'external'],
    ['an old cipher', ss('rc4-md5'), 'external'],
    ['a cipher nobody knows', ss('rot13'), 'unsupported'],
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
        supportsNode({ ...ss('aes-128-gcm'), type, options: {} } as ProxyNode).support,
      );
    }
  });
});
