import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GrpcFrameDecoder, GrpcFrameError, messageHead } from './grpc-frame.js';

function decode(bytes: Buffer, cut = bytes.length): { data: Buffer; whole: boolean } {
  const pieces: Buffer[] = [];
  const decoder = new GrpcFrameDecoder((piece) => pieces.push(Buffer.from(piece)));
  for (let at = 0; at < bytes.length; at += cut) decoder.push(bytes.subarray(at, at + cut));
  return { data: Buffer.concat(pieces), whole: decoder.atBoundary };
}

describe('a message of gun', () => {
  it.each([
    [1, '00 00000003 0a 01'],
    [127, '00 00000081 0a 7f'],
    [128, '00 00000083 0a 8001'],
    [16_384, '00 00004004 0a 808001'],
  ])('of %i bytes has a head of protobuf', (length, head) => {
    expect(messageHead(length).toString('hex')).toBe(head.replaceAll(' ', ''));
  });

  it.each([1, 2, 5, 999, 100_000])('is read in pieces of %i bytes', (cut) => {
    const payloads = [1, 127, 128, 20_000, 70_000].map((size) => randomBytes(size));
    const bytes = Buffer.concat(payloads.flatMap((payload) => [messageHead(payload.length), payload]));
    const { data, whole } = decode(bytes, cut);
    expect(data.equals(Buffer.concat(payloads))).toBe(true);
    expect(whole).toBe(true);
  });

  it('may be empty, have an empty field, or several', () => {
    const bytes = Buffer.from('0000000000' + '00000000020a00' + '00000000060a01410a0142', 'hex');
    expect(decode(bytes, 1)).toEqual({ data: Buffer.from('AB'), whole: true });
  });

  it.each([
    ['compressed', '01 00000003 0a 01 41'],
    ['another field', '00 00000003 12 01 41'],
    ['a payload longer than the message', '00 00000003 0a 02 41 42'],
    ['a length without end', '00 0000000a 0a ffffffffff 01'],
    ['a length that is cut off', '00 00000002 0a 80'],
  ])('is refused: %s', (_name, bytes) => {
    expect(() => decode(Buffer.from(bytes.replaceAll(' ', ''), 'hex'))).toThrow(GrpcFrameError);
  });

  it('survives garbage without an error of another kind', () => {
    for (let round = 0; round < 3000; round += 1) {
      const bytes = randomBytes(1 + (round % 100));
      bytes[0] = 0;
      try {
        decode(bytes, 1 + (round % 7));
      } catch (error) {
        expect(error).toBeInstanceOf(GrpcFrameError);
      }
    }
  });
});
