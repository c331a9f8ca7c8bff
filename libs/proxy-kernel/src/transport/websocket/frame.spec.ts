import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FrameDecoder, OPCODE, WebSocketError, encodeFrame } from './frame.js';

function decode(bytes: Buffer, cut = bytes.length): { data: Buffer; controls: [number, string][]; whole: boolean } {
  const pieces: Buffer[] = [];
  const controls: [number, string][] = [];
  const decoder = new FrameDecoder({
    data: (piece) => pieces.push(Buffer.from(piece)),
    control: (opcode, payload) => controls.push([opcode, payload.toString()]),
  });
  for (let at = 0; at < bytes.length; at += cut) decoder.push(bytes.subarray(at, at + cut));
  return { data: Buffer.concat(pieces), controls, whole: decoder.atBoundary };
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('a WebSocket frame', () => {
  it('is masked as in the example of RFC 6455 5.7', () => {
    const frame = encodeFrame(OPCODE.text, Buffer.from('Hello'), hex('37fa213d'));
    expect(frame.toString('hex')).toBe('818537fa213d7f9f4d5158');
  });

  it.each([0, 1, 125, 126, 65_535, 65_536, 100_003])('of %i bytes can be unmasked again', (size) => {
    const payload = randomBytes(size);
    const frame = encodeFrame(OPCODE.binary, payload);
    const headerLength = size < 126 ? 6 : size < 65_536 ? 8 : 14;
    expect(frame.length).toBe(headerLength + size);
    const mask = frame.subarray(headerLength - 4, headerLength);
    const plain = Buffer.from(frame.subarray(headerLength).map((byte, index) => byte ^ (mask[index & 3] ?? 0)));
    expect(plain.equals(payload)).toBe(true);
  });

  it('never carries the same mask twice', () => {
    const masks = Array.from({ length: 3000 }, () => encodeFrame(2, Buffer.alloc(1)).toString('hex', 2, 6));
    expect(new Set(masks).size).toBeGreaterThan(2995);
  });

  it.each([1, 2, 3, 7, 1000])('of a server is read in pieces of %i bytes (examples of RFC 6455 5.7)', (cut) => {
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
    const { data, controls, whole } = decode(bytes, cut);
    expect(data.equals(Buffer.concat([Buffer.from('HelloHello'), long, longest]))).toBe(true);
    expect(controls).toEqual([
      [OPCODE.ping, 'Hello'],
      [OPCODE.close, '\u0003\ufffd'],
    ]);
    expect(whole).toBe(true);
  });

  it.each([
    ['masked', '8185 37fa213d 7f9f4d5158'],
    ['with a reserved bit', 'c105 48656c6c6f'],
    ['with an unknown data opcode', '8305 48656c6c6f'],
    ['with an unknown control opcode', '8b00'],
    ['a fragmented control', '0900'],
    ['a control of 126 bytes', '897e 007e'],
    ['a continuation of nothing', '8002 6c6f'],
    ['a new message inside another', '0103 48656c 8103 48656c'],
    ['longer than can be', '827f ffffffffffffffff'],
  ])('is refused: %s', (_name, bytes) => {
    expect(() => decode(hex(bytes))).toThrow(WebSocketError);
  });

  it('survives garbage: an error of its own kind or nothing', () => {
    for (let round = 0; round < 3000; round += 1) {
      try {
        decode(randomBytes(1 + (round % 300)), 1 + (round % 17));
      } catch (error) {
        expect(error).toBeInstanceOf(WebSocketError);
      }
    }
  });
});
