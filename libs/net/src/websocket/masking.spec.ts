import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { applyMask } from './masking.js';

it('masking follows RFC 6455 at every alignment and offset', () => {
  const key = Buffer.of(1, 0x82, 3, 0xf4);
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
