import { encodeSocksAddress } from '@gatehouse/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TunnelError } from '../errors.js';
import { cutFrame, FragmentJoiner } from './fragments.js';
import { FrameCutter } from './frame-cutter.js';
import {
  decodeAddress,
  decodeOpening,
  encodeOpening,
  FRAME,
  readFrames,
  sessionOf,
  SESSION_BYTES,
  writeHeader,
} from './frames.js';

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((value) => Buffer.from(value));
const session = fc.nat(0xff_ff_ff_ff);
const port = fc.nat(65_535);
const address = fc.oneof(fc.ipV4(), fc.constantFrom('2001:db8::1', '::1', 'fe80::1'));

interface Frame {
  type: number;
  session: number;
  content: string;
}
const frames = fc.array(
  fc.record({ type: fc.integer({ min: 1, max: 255 }), session, content: bytes(300).map((b) => b.toString('hex')) }),
  { maxLength: 10 },
);

function encode({ type, session: id, content }: Frame): Buffer {
  const payload = Buffer.from(content, 'hex');
  const frame = Buffer.alloc(8 + payload.length);
  frame.set(payload, writeHeader(frame, 0, type, id, payload.length));
  return frame;
}

function collect(into: Frame[]) {
  return (type: number, body: Buffer): void => {
    into.push({ type, session: sessionOf(body), content: body.toString('hex', SESSION_BYTES) });
  };
}

function withSession(head: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(SESSION_BYTES), head]);
}

/** What is thrown may only be a protocol error. */
function onlyProtocolErrors(read: () => void): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(TunnelError);
    expect((error as TunnelError).code).toBe('protocol');
  }
}

describe('frames of datagrams', () => {
  it('can be read from a packet and from a stream, however it is split', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { maxLength: 20 }), (sent, places) => {
        const wire = Buffer.concat(sent.map(encode));
        const packet: Frame[] = [];
        readFrames(Buffer.concat([wire, Buffer.alloc(5)]), collect(packet));
        expect(packet).toEqual(sent);
        const stream: Frame[] = [];
        const cutter = new FrameCutter(collect(stream));
        const cuts = [0, ...places.map((place) => place % (wire.length + 1)).sort((a, b) => a - b), wire.length];
        for (const [index, end] of cuts.slice(1).entries()) cutter.read(wire.subarray(cuts[index], end));
        expect(stream).toEqual(sent);
      }),
      { numRuns: 300 },
    );
  });

  it('carry openings and addresses', () => {
    const endpoint = fc.record({ address, port });
    const opening = fc.record({ tunnelId: fc.nat(Number.MAX_SAFE_INTEGER), visitor: endpoint, entrance: endpoint });
    fc.assert(
      fc.property(opening, (value) => {
        expect(decodeOpening(withSession(encodeOpening(value)))).toEqual(value);
      }),
    );
    const destination = fc.record({ host: fc.oneof(address, fc.domain()), port });
    fc.assert(
      fc.property(destination, bytes(20), ({ host, port: to }, payload) => {
        const body = withSession(Buffer.concat([encodeSocksAddress({ host, port: to }), payload]));
        const read = decodeAddress(body);
        expect(read.address).toEqual({ host, port: to });
        expect(body.subarray(read.end).equals(payload)).toBe(true);
      }),
    );
  });

  it('are either valid or a protocol error for any bytes', () => {
    const joiner = new FragmentJoiner(() => 0);
    const parse = (type: number, body: Buffer): void => {
      if (type === FRAME.open) decodeOpening(body);
      if (type === FRAME.addressed) decodeAddress(body);
      if (type === FRAME.fragment) joiner.take(sessionOf(body), body.subarray(SESSION_BYTES));
      sessionOf(body);
    };
    const likely = frames.map((all) => Buffer.concat(all.map((frame) => encode({ ...frame, type: frame.type % 10 }))));
    fc.assert(
      fc.property(fc.oneof(bytes(200), likely), (wire) => {
        onlyProtocolErrors(() => readFrames(wire, parse));
        onlyProtocolErrors(() => new FrameCutter(parse).read(wire));
      }),
      { numRuns: 3000 },
    );
  });

  it('are not buffered if they are too long', () => {
    const cutter = new FrameCutter(() => expect.unreachable());
    expect(() => cutter.read(Buffer.from([1, 0xff, 0xff, 0xff]))).toThrow('a frame of datagrams of 16777215 bytes');
  });
});

describe('fragments', () => {
  it('are reassembled in any order, once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 65_000 }), fc.integer({ min: 300, max: 1400 }), (length, size) => {
        const frame = Buffer.alloc(length, 'abcdefg');
        const parts = cutFrame(frame, size).reverse();
        if (parts.length < 2) return;
        const joiner = new FragmentJoiner(() => 0);
        const whole = parts
          .flatMap((part) => [part, part])
          .map(({ head, part }) => joiner.take(7, Buffer.concat([head, part])))
          .filter((joined) => joined !== null);
        expect(whole).toHaveLength(1);
        expect(whole[0]?.equals(frame)).toBe(true);
      }),
    );
  });

  it('are discarded when a part is missing, and when there are too many', () => {
    let now = 0;
    const joiner = new FragmentJoiner(() => now);
    const part = (index: number) => Buffer.concat([Buffer.of(index, 2), Buffer.from('x')]);
    joiner.take(1, part(0));
    now = 3000;
    joiner.take(2, part(0));
    expect(joiner.take(1, part(1))).toBeNull();
    for (let number = 100; number < 200; number++) joiner.take(number, part(0));
    expect(joiner.take(2, part(1))).toBeNull();
    expect(String(joiner.take(199, part(1)))).toBe('xx');
  });
});
