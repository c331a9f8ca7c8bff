import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIAL_FAILURES } from './messages.js';
import {
  decodeAnswer,
  decodeStart,
  encodeAnswer,
  encodeOpening,
  encodeStart,
  OPENING_BYTES,
  openingHolds,
  openingIsSealed,
  openingTicketId,
  startLength,
  START_HEADER_BYTES,
  type Start,
} from './prelude.js';

const ticket = { id: randomBytes(16), key: randomBytes(32) };
const port = fc.nat(65_535);
const endpoint = fc.record({ address: fc.oneof(fc.ipV4(), fc.ipV6()), port });
const start = fc.record({
  kind: fc.constantFrom('tunnel' as const, 'host' as const, 'datagrams' as const),
  id: fc.nat(Number.MAX_SAFE_INTEGER),
  target: fc.option(fc.nat(254)),
  destination: fc.string({ maxLength: 60, unit: 'grapheme' }).filter((text) => Buffer.byteLength(text) <= 255),
  wantsAnswer: fc.boolean(),
  framed: fc.boolean(),
  reused: fc.boolean(),
  longRecords: fc.boolean(),
  visitor: endpoint,
  entrance: endpoint,
});

describe('the opening of a data channel', () => {
  it.each([true, false])('names its ticket and proves the key (sealed: %s)', (sealed) => {
    const opening = encodeOpening(ticket, sealed);
    expect(openingIsSealed(opening)).toBe(sealed);
    expect(opening).toHaveLength(OPENING_BYTES);
    expect(opening.includes(ticket.key)).toBe(false);
    expect(openingTicketId(opening)).toBe(ticket.id.toString('hex'));
    expect(openingHolds(opening, ticket)).toBe(true);
    expect(openingHolds(opening, { ...ticket, key: randomBytes(32) })).toBe(false);
  });

  it('fails for a channel of the other kind', () => {
    const opening = encodeOpening(ticket, true);
    opening[3] = 1;
    expect(openingIsSealed(opening)).toBe(false);
    expect(openingHolds(opening, ticket)).toBe(false);
  });

  it('fails if any bit is changed', () => {
    const opening = encodeOpening(ticket, true);
    for (let bit = 0; bit < opening.length * 8; bit++) {
      const changed = Buffer.from(opening);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const accepted = (): boolean =>
        openingTicketId(changed) === ticket.id.toString('hex') && openingHolds(changed, ticket);
      if (bit < 32) expect(accepted).toThrow('not the opening');
      else expect(accepted()).toBe(false);
    }
  });
});

describe('the start of a data channel', () => {
  it('can be read back', () => {
    fc.assert(
      fc.property(start, (value) => {
        const bytes = encodeStart(value, ticket.key);
        expect(startLength(bytes.subarray(0, START_HEADER_BYTES))).toBe(bytes.length - START_HEADER_BYTES);
        expect(decodeStart(bytes, ticket.key)).toEqual(value);
        // Nor for another visitor of the same channel.
        expect(() => decodeStart(bytes, ticket.key, 1)).toThrow('not made for this channel');
        const second = encodeStart(value, ticket.key, 1);
        expect(decodeStart(second, ticket.key, 1)).toEqual(value);
        for (const index of [0, 2, 256]) expect(() => decodeStart(second, ticket.key, index)).toThrow('not made');
      }),
    );
  });

  it('is valid for one channel and one tunnel only', () => {
    const value: Start = {
      kind: 'tunnel',
      id: 7,
      target: null,
      destination: '',
      wantsAnswer: false,
      framed: false,
      reused: false,
      longRecords: false,
      visitor: { address: '192.0.2.1', port: 5 },
      entrance: { address: '::1', port: 80 },
    };
    const bytes = encodeStart(value, ticket.key);
    expect(() => decodeStart(bytes, randomBytes(32))).toThrow('not made for this channel');
    bytes[13] = 8;
    expect(() => decodeStart(bytes, ticket.key)).toThrow('not made for this channel');
  });

  it('from random bytes is a protocol error', () => {
    const arbitrary = fc.uint8Array({ minLength: 4, maxLength: 200 }).map((value) => Buffer.from(value));
    fc.assert(
      fc.property(arbitrary, (bytes) => {
        expect(() => decodeStart(bytes, ticket.key)).toThrow(expect.objectContaining({ code: 'protocol' }));
      }),
    );
  });
});

describe('the answer to a start', () => {
  it('can be read back, and an unknown failure of a later version is read as another one', () => {
    for (const failure of [null, ...DIAL_FAILURES]) expect(decodeAnswer(encodeAnswer(failure)[0]!)).toBe(failure);
    expect(decodeAnswer(200)).toBe('other');
  });
});
