import { OPENING_FIRST_BYTE } from './prelude.js';

/**
 * What a server sends before the opening of a data channel that it passes on to another server: four bytes, the last of
 * which is the index of the worker that issued the ticket.
 */
const MAGIC = Buffer.from([OPENING_FIRST_BYTE, 0x57, 0x52]);
/** The third byte of a passed channel; that of a channel from an agent is D. */
export const PASSED_THIRD_BYTE = 0x52;
export const PASSED_BYTES = MAGIC.length + 1;

export function encodePassed(worker: number | null): Buffer {
  return Buffer.concat([MAGIC, Buffer.of(worker ?? 0)]);
}
