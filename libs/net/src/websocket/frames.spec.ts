import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  maskedWebSocketFrame,
  WEBSOCKET_OPCODE as OPCODE,
  WebSocketError,
  webSocketFrame,
  webSocketFrameHeader,
  WebSocketFrameReader,
  type WebSocketFrameOptions,
} from './frames.js';

interface Read {
  data: Buffer;
  controls: [number, string][];
  atBoundary: boolean;
}

function read(bytes: Buffer, options: WebSocketFrameOptions, cut = bytes.length || 1): Read {
  const parts: Buffer[] = [];
  const controls: [number, string][] = [];
  const reader = new WebSocketFrameReader(options, {
    data: (part) => parts.push(Buffer.from(part)),
    control: (opcode, payload) => controls.push([opcode, payload.toString()]),
  });
  for (let at = 0; at < bytes.length; at += cut) reader.read(Buffer.from(bytes.subarray(at, at + cut)));
  return { data: Buffer.concat(parts), controls, atBoundary: reader.atBoundary };
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const FROM_SERVER = { masked: false, text: true };

describe('a masked frame', () => {
  it('is the one in the example of RFC 6455 5.7', () => {
    const frame = maskedWebSocketFrame(OPCODE.text, [Buffer.from('Hel'), Buffer.from('lo')], hex('37fa213d'));
    expect(frame.toString('hex')).toBe('818537fa213d7f9f4d5158');
  });

  it.each([0, 1, 125, 126, 4095, 4096, 65_535, 65_536, 100_003])('of %i bytes can be unmasked again', (size) => {
    const payload = randomBytes(size);
    const frame = maskedWebSocketFrame(OPCODE.binary, [payload]);
    const headerLength = size < 126 ? 6 : size < 65_536 ? 8 : 14;
    expect(frame.length).toBe(headerLength + size);
    const mask = frame.subarray(headerLength - 4, headerLength);
    const plain = Buffer.from(frame.subarray(headerLength).map((byte, index) => byte ^ (mask[index & 3] ?? 0)));
    expect(plain.equals(payload)).toBe(true);
  });

  it('never has the same mask as another', () => {
    const masks = Array.from({ length: 3000 }, () => maskedWebSocketFrame(2, [Buffer.alloc(1)]).toString('hex', 2, 6));
    expect(new Set(masks).size).toBeGreaterThan(2995);
  });
});

describe('frames', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 200_000])('of %i bytes are read however they are cut', (length) => {
    const payload = randomBytes(length);
    const parts = [payload.subarray(0, 3), payload.subarray(3)];
    const server = webSocketFrame(OPCODE.binary, parts);
    expect(server.equals(Buffer.concat([webSocketFrameHeader(OPCODE.binary, length), payload]))).toBe(true);
    for (const cut of length > 1000 ? [1000, 1_000_000] : [1, 3, 1_000_000]) {
      expect(read(server, { masked: false }, cut).data.equals(payload)).toBe(true);
      expect(read(maskedWebSocketFrame(OPCODE.binary, parts), { masked: true }, cut).data.equals(payload)).toBe(true);
    }
  });

  it.each([1, 2, 3, 7, 1000])('of a server are read in pieces of %i bytes (examples of RFC 6455 5.7)', (cut) => {
    const long = randomBytes(256);
    const longest = randomBytes(65_536);
    const bytes = Buffer.concat([
      hex('8105 48656c6c6f'),
      hex('0103 48656c'),
      hex('8905 48656c6c6f'),
      hex('8002 6c6f'),
      hex('827e 0100'),
      long,
      hex('827f 0000000000010000'),
      longest,
      hex('8200'),
      hex('8802 03e8'),
    ]);
    const { data, controls, atBoundary } = read(bytes, FROM_SERVER, cut);
    expect(data.equals(Buffer.concat([Buffer.from('HelloHello'), long, longest]))).toBe(true);
    expect(controls).toEqual([
      [OPCODE.ping, 'Hello'],
      [OPCODE.close, '\u0003\ufffd'],
    ]);
    expect(atBoundary).toBe(true);
  });

  it.each(['82', '8205 48', '827e 01', '8905 48'])('are not at a boundary inside a frame: %s', (bytes) => {
    expect(read(hex(bytes), FROM_SERVER).atBoundary).toBe(false);
  });

  it.each([
    ['masked', '8180'],
    ['with a reserved bit', 'c105'],
    ['with an unknown data opcode', '8305'],
    ['with an unknown control opcode', '8b00'],
    ['a fragmented control', '0900'],
    ['a control of 126 bytes', '897e'],
    ['a continuation of nothing', '8002'],
    ['a new message inside another', '0100 8103'],
    ['longer than can be', '827f ffffffffffffffff'],
  ])('are refused at the first byte that shows it: %s', (_name, bytes) => {
    expect(() => read(hex(bytes), FROM_SERVER)).toThrow(WebSocketError);
    expect(() => read(hex(bytes).subarray(0, -1), FROM_SERVER)).not.toThrow();
  });

  it('of a client are refused without a mask', () => {
    expect(() => read(hex('8200'), { masked: true })).toThrow(WebSocketError);
  });

  it('of text are refused unless text is enabled', () => {
    expect(() => read(hex('8101 41'), { masked: false })).toThrow(WebSocketError);
  });

  it('of garbage give a WebSocketError or nothing', () => {
    for (let round = 0; round < 3000; round += 1) {
      try {
        read(randomBytes(1 + (round % 300)), { masked: round % 2 === 0, text: true }, 1 + (round % 17));
      } catch (error) {
        expect(error).toBeInstanceOf(WebSocketError);
      }
    }
  });
});
