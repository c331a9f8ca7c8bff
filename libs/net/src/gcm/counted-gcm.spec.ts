import fc from 'fast-check';
import { createCipheriv, createSecretKey, type CipherGCMTypes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CountedGcm, MAX_COUNTED_BYTES, type NonceSequence } from './counted-gcm.js';

const bigEndian: NonceSequence = {
  write: (number, into, at) => {
    into.fill(0xab, at, at + 6);
    into.writeUIntBE(number, at + 6, 6);
  },
};

function nonceOf(sequence: NonceSequence, number: number): Buffer {
  const nonce = Buffer.alloc(12);
  sequence.write(number, nonce, 0);
  return nonce;
}

/** What Node's cipher makes of it: the encrypted text, then the tag. */
function byNode(key: Buffer, nonce: Buffer, text: Uint8Array, associated: Uint8Array): Buffer {
  const cipher = createCipheriv(`aes-${key.length * 8}-gcm` as CipherGCMTypes, key, nonce, { authTagLength: 16 });
  cipher.setAAD(associated);
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

const text = fc.uint8Array({ maxLength: MAX_COUNTED_BYTES });
const associated = fc.uint8Array({ maxLength: 40 });

describe.each([16, 24, 32])('AES-GCM with a key of %i bytes', (bytes) => {
  const key = fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value));
  const records = fc.array(fc.record({ text, associated, skipped: fc.nat(40) }), { minLength: 1, maxLength: 40 });

  it('seals to the bytes of Node’s cipher, and opens them, for any numbers in order', () => {
    fc.assert(
      fc.property(key, records, fc.nat(2 ** 40), (secret, all, first) => {
        const [sealer, opener] = [
          new CountedGcm(secret, bigEndian),
          new CountedGcm(createSecretKey(secret), bigEndian),
        ];
        let number = first;
        for (const { text: plain, associated: known, skipped } of all) {
          const expected = byNode(secret, nonceOf(bigEndian, number), plain, known);
          const sealed = sealer.seal(number, plain, known);
          expect(sealed.equals(expected)).toBe(true);
          const [body, tag] = [sealed.subarray(0, plain.length), sealed.subarray(plain.length)];
          expect(opener.open(number, body, tag, known)?.equals(plain)).toBe(true);
          number += 1 + skipped;
        }
      }),
      { numRuns: 60 },
    );
  });

  it('opens nothing in which one bit differs', () => {
    const bit = fc.nat(8 * (MAX_COUNTED_BYTES + 16) - 1);
    fc.assert(
      fc.property(key, text, associated, bit, (secret, plain, known, at) => {
        const sealed = new CountedGcm(secret, bigEndian).seal(7, plain, known);
        const place = at % (8 * sealed.length);
        sealed[place >> 3] = (sealed[place >> 3] ?? 0) ^ (1 << (place & 7));
        const opened = new CountedGcm(secret, bigEndian).open(
          7,
          sealed.subarray(0, plain.length),
          sealed.subarray(plain.length),
          known,
        );
        expect(opened).toBeNull();
      }),
      { numRuns: 60 },
    );
  });
});

it('opens nothing with another number, other associated bytes or a shorter tag', () => {
  const key = Buffer.alloc(16, 1);
  const sealed = new CountedGcm(key, bigEndian).seal(0, Buffer.from('text'), Buffer.from('known'));
  const [body, tag] = [sealed.subarray(0, 4), sealed.subarray(4)];
  const open = (number: number, given: Uint8Array, known: string): Uint8Array | null =>
    new CountedGcm(key, bigEndian).open(number, body, given, Buffer.from(known));
  expect(String(open(0, tag, 'known'))).toBe('text');
  expect([open(1, tag, 'known'), open(0, tag, 'Known'), open(0, tag.subarray(0, 15), 'known')]).toEqual([
    null,
    null,
    null,
  ]);
  expect(open(0, Buffer.concat([tag, tag]), 'known')).toBeNull();
});

/** Test cases 1, 2 and 4 of the specification of GCM (McGrew, Viega). */
it.each([
  ['00'.repeat(16), '00'.repeat(12), '', '', '58e2fccefa7e3061367f1d57a4e7455a'],
  [
    '00'.repeat(16),
    '00'.repeat(12),
    '00'.repeat(16),
    '',
    '0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf',
  ],
  [
    'feffe9928665731c6d6a8f9467308308',
    'cafebabefacedbaddecaf888',
    'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
    'feedfacedeadbeeffeedfacedeadbeefabaddad2',
    '42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091' +
      '5bc94fbc3221a5db94fae95ae7121a47',
  ],
])('agrees with the specification: key %s, nonce %s', (key, nonce, plain, known, expected) => {
  const sequence = { write: (_number: number, into: Buffer, at: number) => into.write(nonce, at, 'hex') };
  const sealed = new CountedGcm(Buffer.from(key, 'hex'), sequence as unknown as NonceSequence).seal(
    0,
    Buffer.from(plain, 'hex'),
    Buffer.from(known, 'hex'),
  );
  expect(sealed.toString('hex')).toBe(expected);
});

describe('what would show the text', () => {
  const text = Buffer.from('x');
  const gcm = (): CountedGcm => new CountedGcm(Buffer.alloc(32, 3), bigEndian);

  it('is refused: a number that was used, or one before it', () => {
    const used = gcm();
    used.seal(3, text);
    expect(() => used.seal(3, text)).toThrow(RangeError);
    expect(() => used.open(2, text, Buffer.alloc(16))).toThrow(RangeError);
    expect(used.seal(4, text).equals(gcm().seal(4, text))).toBe(true);
  });

  it('is refused: a text that is longer than its key stream', () => {
    const long = Buffer.alloc(MAX_COUNTED_BYTES + 1);
    expect(() => gcm().seal(0, long)).toThrow(RangeError);
    expect(() => gcm().open(0, long, Buffer.alloc(16))).toThrow(RangeError);
  });

  it('is refused after the key streams were erased, of which nothing is left', () => {
    const erased = gcm();
    erased.seal(0, text);
    erased.erase();
    expect(erased['prepared'].every((byte) => byte === 0)).toBe(true);
    expect(() => erased.seal(1, text)).toThrow(RangeError);
  });
});
