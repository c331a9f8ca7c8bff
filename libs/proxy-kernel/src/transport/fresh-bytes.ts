import { randomBytes } from 'node:crypto';

/** Bytes drawn at once: what travels in the clear needs no hiding while it waits. */
const DRAWN_BYTES = 4096;
let drawn: Buffer = Buffer.alloc(0);

/** Random bytes that were given to no one else, for what is not a secret (salts, masks, padding). At most 4096. */
export function freshBytes(count: number): Buffer {
  if (drawn.length < count) drawn = randomBytes(DRAWN_BYTES);
  const bytes = drawn.subarray(0, count);
  drawn = drawn.subarray(count);
  return bytes;
}
