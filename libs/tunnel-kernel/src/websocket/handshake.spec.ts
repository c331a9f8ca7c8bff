import { describe, expect, it } from 'vitest';
import { TunnelError } from '../errors.js';
import {
  checkUpgradeAnswer,
  formatWebSocketAddress,
  parseWebSocketAddress,
  readRequestHead,
  upgradeAnswer,
  upgradeRequest,
} from './handshake.js';

describe('the handshake of a WebSocket', () => {
  it('stays fast with many spaces', () => {
    const began = performance.now();
    expect(() => readRequestHead(`GET / HTTP/1.1\r\na:${' '.repeat(4000)}\rx\r\n\r\n`)).toThrow('cannot be read');
    expect(performance.now() - began).toBeLessThan(50);
  });

  const address = { secure: false, host: 'gw.example', port: 8080, path: '/__gw/agent' };

  it('is requested, accepted and checked', () => {
    const { head, key } = upgradeRequest(address);
    const { method, target, field } = readRequestHead(head);
    expect([method, target, field('host')]).toEqual(['GET', '/__gw/agent', 'gw.example:8080']);
    const answer = upgradeAnswer(field);
    expect(answer.accepted).toBe(true);
    expect(() => checkUpgradeAnswer(answer.head, key)).not.toThrow();
    expect(() => checkUpgradeAnswer(answer.head, upgradeRequest(address).key)).toThrow('another WebSocket request');
  });

  it('computes the accept value from RFC 6455', () => {
    const fields: Record<string, string> = {
      upgrade: 'WebSocket',
      connection: 'keep-alive, Upgrade',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'gatehouse-tunnel.1',
    };
    expect(upgradeAnswer((name) => fields[name]).head).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    for (const name of Object.keys(fields)) {
      const without = upgradeAnswer((asked) => (asked === name ? undefined : fields[asked]));
      expect(without.accepted, name).toBe(false);
      expect(without.head).toMatch(/^HTTP\/1\.1 4(00|26) /);
    }
  });

  it.each([
    'HTTP/1.1 403 Forbidden\r\n\r\n',
    'SSH-2.0-OpenSSH\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  ])('is not complete with the answer %j', (head) => {
    expect(() => checkUpgradeAnswer(head, 'k')).toThrow(TunnelError);
  });

  it.each([
    ['wss://gw.example', 'wss://gw.example/__gw/agent', 443],
    ['ws://gw.example/', 'ws://gw.example/__gw/agent', 80],
    ['wss://gw.example:8443/tunnel?x=1', 'wss://gw.example:8443/tunnel?x=1', 8443],
    ['wss://[::1]:8443', 'wss://[::1]:8443/__gw/agent', 8443],
  ])('reads the address %s', (text, written, port) => {
    const read = parseWebSocketAddress(text);
    expect(read?.port).toBe(port);
    expect(read && formatWebSocketAddress(read)).toBe(written);
  });

  it.each([
    'https://gw.example',
    'wss://',
    'wss://u:p@gw.example',
    'wss://gw.example/#x',
    'wss://gw.example:0',
    'gw.example:1',
  ])('does not accept the address %s', (text) => expect(parseWebSocketAddress(text)).toBeNull());
});
