import { compress, INITIAL, STATE_WORDS } from './compress.js';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** A byte of 128 and the length of the message in bits, of which the upper half is always 0 here. */
const ENDING_BYTES = 9;
const INNER = 0x36;
const OUTER = 0x5c;

/** Room for one message with its ending; grows for longer ones. */
let scratch = new Uint8Array(8 * BLOCK_BYTES);
const state = new Int32Array(STATE_WORDS);

/**
 * HMAC-SHA-256 (RFC 2104) of many short messages with one key. Node makes an object of OpenSSL for each message, which costs
 * several times as much as the hash itself; here the key is taken in once.
 */
export class ShortHmac {
  private readonly inner: Int32Array;
  private readonly outer: Int32Array;

  /** @throws RangeError if the key is longer than a block. */
  constructor(key: Uint8Array) {
    if (key.length > BLOCK_BYTES) throw new RangeError(`a key over ${BLOCK_BYTES} bytes`);
    this.inner = startedWith(key, INNER);
    this.outer = startedWith(key, OUTER);
  }

  /** Of all parts, one behind the other. */
  digest(...parts: readonly Uint8Array[]): Buffer {
    let length = 0;
    for (const part of parts) length += part.length;
    if (lengthInBlocks(length) > scratch.length) scratch = new Uint8Array(lengthInBlocks(2 * length));
    let at = 0;
    for (const part of parts) {
      scratch.set(part, at);
      at += part.length;
    }
    finish(this.inner, length);
    const digest = Buffer.allocUnsafe(DIGEST_BYTES);
    put(scratch);
    finish(this.outer, DIGEST_BYTES);
    put(digest);
    return digest;
  }
}

/** The state after the first block: the key, each byte XOR `pad`. */
function startedWith(key: Uint8Array, pad: number): Int32Array {
  const started = Int32Array.from(INITIAL);
  const block = new Uint8Array(BLOCK_BYTES).fill(pad);
  for (let at = 0; at < key.length; at += 1) block[at] = (key[at] as number) ^ pad;
  compress(started, block, 0);
  return started;
}

/** Hashes the first bytes of `scratch` behind a block that was hashed into `before`. */
function finish(before: Int32Array, length: number): void {
  const end = lengthInBlocks(length);
  scratch.fill(0, length, end);
  scratch[length] = 0x80;
  const bits = (BLOCK_BYTES + length) * 8;
  for (let byte = 0; byte < 4; byte += 1) scratch[end - 1 - byte] = bits >>> (8 * byte);
  state.set(before);
  for (let at = 0; at < end; at += BLOCK_BYTES) compress(state, scratch, at);
}

/** With the ending, in whole blocks. */
function lengthInBlocks(bytes: number): number {
  return Math.ceil((bytes + ENDING_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
}

function put(into: Uint8Array): void {
  for (let index = 0; index < STATE_WORDS; index += 1) {
    const word = state[index] as number;
    const at = 4 * index;
    into[at] = word >>> 24;
    into[at + 1] = word >>> 16;
    into[at + 2] = word >>> 8;
    into[at + 3] = word;
  }
}
