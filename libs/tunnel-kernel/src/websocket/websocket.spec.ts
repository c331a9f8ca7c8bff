import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TunnelError } from '../errors.js';
import { frameHeader, OPCODE, WebSocketFrameReader, wholeFrame } from './frames.js';
import { applyMask } from './masking.js';
import {
  checkUpgradeAnswer,
  formatWebSocketAddress,
  parseWebSocketAddress,
  readRequestHead,
  upgradeAnswer,
  upgradeRequest,
} from './handshake.js';

function read(bytes: Buffer, masked: boolean, cut = bytes.length || 1) {
  const parts: Buffer[] = [];
  const controls: [number, string][] = [];
  const reader = new WebSocketFrameReader(masked, {
    data: (part) => parts.push(Buffer.from(part)),
    control: (opcode, payload) => controls.push([opcode, payload.toString()]),
  });
  for (let at = 0; at < bytes.length; at += cut) reader.read(Buffer.from(bytes.subarray(at, at + cut)));
  return { bytes: Buffer.concat(parts), controls };
}

describe('masking', () => {
  it('is what RFC 6455 says, wherever the bytes lie in memory and in the payload', () => {
    const key = Buffer.of(1, 2, 3, 4);
    for (let shift = 0; shift < 5; shift++) {
      for (let length = 0; length < 20; length++) {
        for (let offset = 0; offset < 5; offset++) {
          const memory = randomBytes(40);
          const bytes = memory.subarray(shift, shift + length);
          const expected = bytes.map((byte, at) => byte ^ (key[(at + offset) % 4] as number));
          applyMask(bytes, key, offset);
          expect(bytes.equals(expected)).toBe(true);
        }
      }
    }
  });
});

describe('frames of a WebSocket', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 200_000])('of %i bytes are read however they are cut', (length) => {
    const payload = randomBytes(length);
    for (const masked of [true, false]) {
      const frame = wholeFrame(OPCODE.binary, [payload.subarray(0, 3), payload.subarray(3)], length, masked);
      const whole = masked ? frame : Buffer.concat([frameHeader(OPCODE.binary, length), payload]);
      for (const cut of [1, 3, 1000, 1_000_000]) {
        if (cut === 1 && length > 1000) continue;
        expect(read(whole, masked, cut).bytes.equals(payload)).toBe(true);
      }
    }
  });

  it('may be parts of a message, with controls between them', () => {
    const begun = Buffer.of(OPCODE.binary, 2, 1, 2);
    const ping = wholeFrame(OPCODE.ping, [Buffer.from('hi')], 2, false);
    const done = Buffer.of(0x80, 1, 3);
    const { bytes, controls } = read(Buffer.concat([begun, ping, done]), false);
    expect([...bytes]).toEqual([1, 2, 3]);
    expect(controls).toEqual([[OPCODE.ping, 'hi']]);
  });

  it.each([
    ['text', Buffer.of(0x81, 1, 65)],
    ['a reserved bit', Buffer.of(0xc2, 0)],
    ['a mask of a server', Buffer.of(0x82, 0x81, 1, 2, 3, 4, 5)],
    ['a long ping', Buffer.of(0x89, 126, 0, 126)],
    ['a ping in parts', Buffer.of(0x09, 0)],
    ['a continuation of nothing', Buffer.of(0x80, 0)],
    ['a message within a message', Buffer.of(0x02, 0, 0x82, 0)],
    ['an unknown control', Buffer.of(0x8b, 0)],
    ['a length beyond all bounds', Buffer.of(0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255)],
  ])('are refused with %s', (_, bytes) => {
    expect(() => read(bytes, false)).toThrow(TunnelError);
  });
});

describe('the handshake of a WebSocket', () => {
  it('is not held up by a stranger who sends spaces', () => {
    const began = performance.now();
    expect(() => readRequestHead(`GET / HTTP/1.1\r\na:${' '.repeat(4000)}\rx\r\n\r\n`)).toThrow('cannot be read');
    expect(performance.now() - began).toBeLessThan(50);
  });

  const address = { secure: false, host: 'gw.example', port: 8080, path: '/__gw/agent' };

  it('is asked for, accepted, and checked', () => {
    const { head, key } = upgradeRequest(address);
    const { method, target, field } = readRequestHead(head);
    expect([method, target, field('host')]).toEqual(['GET', '/__gw/agent', 'gw.example:8080']);
    const answer = upgradeAnswer(field);
    expect(answer.accepted).toBe(true);
    expect(() => checkUpgradeAnswer(answer.head, key)).not.toThrow();
    expect(() => checkUpgradeAnswer(answer.head, upgradeRequest(address).key)).toThrow('another WebSocket request');
  });

  it('has the accept of RFC 6455', () => {
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
  ])('is no other answer: %j', (head) => {
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
  ])('does not take %s for an address', (text) => expect(parseWebSocketAddress(text)).toBeNull());
});
