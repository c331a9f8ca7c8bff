import { randomBytes } from 'node:crypto';

/** Bytes drawn at a time. They may wait in memory, because they are sent in the clear later. */
const DRAWN_BYTES = 4096;
let drawn: Buffer = Buffer.alloc(0);
let used = 0;

/** Random bytes that no other call gets, for what is not a secret (salts, masks, padding). At most 4096. */
export function freshBytes(count: number): Buffer {
  if (drawn.length - used < count) {
    drawn = randomBytes(DRAWN_BYTES);
    used = 0;
  }
  used += count;
  return drawn.subarray(used - count, used);
}
