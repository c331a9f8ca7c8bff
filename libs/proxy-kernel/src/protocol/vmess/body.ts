/** Chunks of a VMess body: `length(2) ‖ sealed payload ‖ padding`. Pure: bytes in, bytes out. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type CipherGCMTypes,
  type DecipherGCM,
  type KeyObject,
} from 'node:crypto';
import { shake128 } from '@noble/hashes/sha3.js';
import { OPTION, VmessError, type Security } from './header.js';

/** The payload of one chunk, which every server accepts. */
export const MAX_PAYLOAD = 15_000;
/** The payload of one datagram: with a tag and the longest padding the length still fits. */
export const MAX_DATAGRAM = 0xffff - 16 - 63;
const TAG_BYTES = 16;
const MAX_PADDING = 64;
const AUTH_TAG = { authTagLength: TAG_BYTES };

interface Aead {
  algorithm: CipherGCMTypes;
  key: KeyObject;
}

export interface BodyKeys {
  security: Security;
  options: number;
  /** 16 bytes each. */
  key: Buffer;
  iv: Buffer;
}

/** Masks lengths and gives the lengths of padding, both from one stream of SHAKE-128 over the iv. */
class Lengths {
  private readonly stream: ReturnType<typeof shake128.create> | null;
  private readonly pads: boolean;

  constructor({ options, iv }: BodyKeys) {
    this.stream = (options & OPTION.chunkMasking) !== 0 ? shake128.create().update(iv) : null;
    this.pads = (options & OPTION.globalPadding) !== 0;
  }

  nextPadding(): number {
    return this.pads ? this.next() % MAX_PADDING : 0;
  }

  /** Masks or unmasks a length. */
  mask(length: number): number {
    return length ^ this.next();
  }

  private next(): number {
    if (!this.stream) return 0;
    const [high = 0, low = 0] = this.stream.xof(2);
    return (high << 8) | low;
  }
}

/** Key, nonce and counter of one direction. */
class Sealing {
  readonly tagBytes: number;
  private readonly aead: Aead | null;
  private readonly nonce: Buffer;
  private count = 0;

  constructor({ security, key, iv }: BodyKeys) {
    this.aead = aeadOf(security, key);
    this.tagBytes = this.aead ? TAG_BYTES : 0;
    this.nonce = Buffer.from(iv.subarray(0, 12));
  }

  seal(plain: Uint8Array): Buffer[] {
    if (!this.aead) return [Buffer.from(plain)];
    const cipher = createCipheriv(this.aead.algorithm, this.aead.key, this.nextNonce(), AUTH_TAG);
    const sealed = cipher.update(plain);
    cipher.final();
    return [sealed, cipher.getAuthTag()];
  }

  /** Null: nothing to decrypt. */
  nextDecipher(): DecipherGCM | null {
    if (!this.aead) return null;
    return createDecipheriv(this.aead.algorithm, this.aead.key, this.nextNonce(), AUTH_TAG);
  }

  private nextNonce(): Buffer {
    this.nonce.writeUInt16BE(this.count);
    this.count = (this.count + 1) & 0xffff;
    return this.nonce;
  }
}

/** Seals one direction of a body. */
export class ChunkSealer {
  private readonly lengths: Lengths;
  private readonly sealing: Sealing;
  private readonly draw: (count: number) => Buffer;

  /** @param draw returns random bytes for padding. */
  constructor(keys: BodyKeys, draw: (count: number) => Buffer) {
    this.lengths = new Lengths(keys);
    this.sealing = new Sealing(keys);
    this.draw = draw;
  }

  /** Passes the pieces of `plain` to `put` in chunks, in order. */
  seal(plain: Uint8Array, put: (piece: Buffer) => void): void {
    for (let at = 0; at < plain.length; at += MAX_PAYLOAD) this.sealChunk(plain.subarray(at, at + MAX_PAYLOAD), put);
  }

  /** One chunk of at most `MAX_DATAGRAM` bytes; an empty one ends the direction. */
  sealChunk(plain: Uint8Array, put: (piece: Buffer) => void): void {
    const padding = this.lengths.nextPadding();
    const length = this.lengths.mask(plain.length + this.sealing.tagBytes + padding);
    const [payload, tag] = this.sealing.seal(plain);
    const front = Buffer.from([length >> 8, length & 255]);
    const back = padding > 0 ? [this.draw(padding)] : [];
    // A short chunk is written in one piece: copying it costs less than four writes.
    const pieces = [front, ...(payload ? [payload] : []), ...(tag ? [tag] : []), ...back];
    if (plain.length <= 2048) return put(Buffer.concat(pieces));
    for (const piece of pieces) put(piece);
  }
}

/** Opens one direction of a body. Nothing is passed on before its tag has been checked. */
export class ChunkOpener {
  private readonly lengths: Lengths;
  private readonly sealing: Sealing;
  private readonly small = Buffer.alloc(TAG_BYTES);
  private smallFilled = 0;
  private state: 'length' | 'payload' | 'tag' | 'padding' | 'done' = 'length';
  /** Bytes of the part that have not arrived yet. */
  private left = 2;
  private paddingBytes = 0;
  private decipher: DecipherGCM | null = null;
  private pieces: Buffer[] = [];

  constructor(keys: BodyKeys) {
    this.lengths = new Lengths(keys);
    this.sealing = new Sealing(keys);
  }

  /** Whether the stream may end here, between two chunks. */
  get atBoundary(): boolean {
    return this.state === 'done' || (this.state === 'length' && this.smallFilled === 0);
  }

  /** The other end has ended its direction. */
  get done(): boolean {
    return this.state === 'done';
  }

  /**
   * Opens sealed bytes that may be cut anywhere, and passes on the pieces of each chunk. `bytes` is not kept.
   * @throws VmessError for a wrong tag or length; the stream is unusable then.
   */
  push(bytes: Buffer, give: (pieces: Buffer[]) => void): void {
    for (let at = 0; at < bytes.length && this.state !== 'done';) {
      const size = Math.min(this.left, bytes.length - at);
      this.take(bytes.subarray(at, at + size));
      at += size;
      this.left -= size;
      while (this.left === 0 && !this.done) this.partEnds(give);
    }
  }

  private take(bytes: Buffer): void {
    if (this.state === 'payload') this.pieces.push(this.decipher ? this.decipher.update(bytes) : Buffer.from(bytes));
    else if (this.state !== 'padding') this.smallFilled += bytes.copy(this.small, this.smallFilled);
  }

  private partEnds(give: (pieces: Buffer[]) => void): void {
    this.smallFilled = 0;
    if (this.state === 'length') this.chunkStarts();
    else if (this.state === 'payload') this.expect('tag', this.sealing.tagBytes);
    else if (this.state === 'tag') {
      checkTag(this.decipher, this.small);
      this.expect('padding', this.paddingBytes);
    } else this.chunkEnds(give);
  }

  private chunkStarts(): void {
    this.paddingBytes = this.lengths.nextPadding();
    const size = this.lengths.mask(this.small.readUInt16BE()) - this.paddingBytes - this.sealing.tagBytes;
    if (size < 0) throw new VmessError('a chunk is shorter than its tag and padding');
    this.decipher = this.sealing.nextDecipher();
    this.expect('payload', size);
  }

  private chunkEnds(give: (pieces: Buffer[]) => void): void {
    const { pieces } = this;
    this.pieces = [];
    this.decipher = null;
    if (pieces.length === 0) this.state = 'done';
    else {
      this.expect('length', 2);
      give(pieces);
    }
  }

  private expect(state: 'length' | 'payload' | 'tag' | 'padding', bytes: number): void {
    this.state = state;
    this.left = bytes;
  }
}

function checkTag(decipher: DecipherGCM | null, tag: Buffer): void {
  if (!decipher) return;
  try {
    decipher.setAuthTag(tag);
    decipher.final();
  } catch (error) {
    throw new VmessError('a chunk was not sealed with the key of its request', { cause: error });
  }
}

function aeadOf(security: Security, key: Buffer): Aead | null {
  if (security === 'none') return null;
  if (security === 'aes-128-gcm') return { algorithm: 'aes-128-gcm', key: createSecretKey(key) };
  // ChaCha20-Poly1305 is used in the same way as GCM, but the types only have GCM. Its key is twice as long.
  const first = createHash('md5').update(key).digest();
  const second = createHash('md5').update(first).digest();
  const algorithm = 'chacha20-poly1305' as CipherGCMTypes;
  return { algorithm, key: createSecretKey(Buffer.concat([first, second])) };
}
