import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ShortHmac } from '../index.js';

describe('HMAC of short messages', () => {
  it('is that of Node for all keys and messages, in any parts', () => {
    const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength });
    fc.assert(
      fc.property(bytes(64), fc.array(bytes(200), { maxLength: 3 }), (key, parts) => {
        const digest = new ShortHmac(key).digest(...parts);
        expect(digest.equals(createHmac('sha256', key).update(Buffer.concat(parts)).digest())).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is right where a message fills its blocks, or nearly, with one key for all', () => {
    const key = Buffer.alloc(32, 9);
    const hmac = new ShortHmac(key);
    for (let length = 0; length < 3000; length += 1) {
      const message = Buffer.alloc(length, length);
      expect(hmac.digest(message).equals(createHmac('sha256', key).update(message).digest())).toBe(true);
    }
  });

  it('is that of RFC 4231, and takes no key over a block', () => {
    const digest = new ShortHmac(Buffer.from('Jefe')).digest(Buffer.from('what do ya want for nothing?'));
    expect(digest.toString('hex')).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
    expect(() => new ShortHmac(Buffer.alloc(65))).toThrow(RangeError);
  });
});
