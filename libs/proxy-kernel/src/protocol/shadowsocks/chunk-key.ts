import { createCipheriv, createDecipheriv, type CipherGCMTypes, type DecipherGCM, type KeyObject } from 'node:crypto';
import { CountedGcm, MAX_COUNTED_BYTES, type NonceSequence } from '@gatehouse/net';
import { NONCE_LENGTH, TAG_LENGTH } from './cipher.js';

const AUTH_TAG = { authTagLength: TAG_LENGTH };
/** The parts of a chunk are its length and its payload. Preparing for more costs more than the first chunk alone. */
const PARTS_OF_FIRST_CHUNK = 2;
/** The longest part that is opened in one piece. */
export const SHORT_PART = MAX_COUNTED_BYTES;

/** A 96-bit little-endian counter, of which no stream needs more than 48 bits. */
const nonces: NonceSequence = {
  write: (number, into, at) => {
    into.fill(0, at, at + NONCE_LENGTH);
    into.writeUIntLE(number, at, 6);
  },
};

export class ShadowsocksError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ShadowsocksError';
  }
}

/** The key of one direction of a stream, with the number of its next part. */
export class ChunkKey {
  private readonly algorithm: CipherGCMTypes;
  private readonly key: KeyObject;
  private readonly nonce = Buffer.allocUnsafe(NONCE_LENGTH);
  private number = 0;
  private short: CountedGcm | null = null;

  constructor(algorithm: CipherGCMTypes, key: KeyObject) {
    this.algorithm = algorithm;
    this.key = key;
  }

  /** A sealed part and its tag, in one or two pieces. */
  seal(plain: Uint8Array): Buffer[] {
    const short = this.shortFor(plain.length);
    if (short) return [short.seal(this.number++, plain)];
    const cipher = createCipheriv(this.algorithm, this.key, this.nextNonce(), AUTH_TAG);
    const sealed = cipher.update(plain);
    cipher.final();
    return [sealed, cipher.getAuthTag()];
  }

  /** Opens a part that has arrived completely. @throws ShadowsocksError. */
  open(sealed: Buffer, tag: Buffer): Buffer {
    const short = this.shortFor(sealed.length);
    if (!short) {
      const decipher = this.decipher();
      const plain = decipher.update(sealed);
      checkTag(decipher, tag);
      return plain;
    }
    const plain = short.open(this.number++, sealed, tag);
    if (!plain) throw notSealed();
    return plain;
  }

  /** For a part that arrives in pieces. */
  decipher(): DecipherGCM {
    return createDecipheriv(this.algorithm, this.key, this.nextNonce(), AUTH_TAG);
  }

  /** Erases what was derived from the key in advance: the stream has ended. */
  erase(): void {
    this.short?.erase();
  }

  private shortFor(bytes: number): CountedGcm | null {
    if (bytes > SHORT_PART || this.number < PARTS_OF_FIRST_CHUNK || !this.algorithm.startsWith('aes-')) return null;
    this.short ??= new CountedGcm(this.key, nonces);
    return this.short;
  }

  private nextNonce(): Buffer {
    nonces.write(this.number++, this.nonce, 0);
    return this.nonce;
  }
}

/** @throws ShadowsocksError. */
export function checkTag(decipher: DecipherGCM, tag: Buffer): void {
  try {
    decipher.setAuthTag(tag);
    decipher.final();
  } catch (error) {
    throw notSealed(error);
  }
}

function notSealed(cause?: unknown): ShadowsocksError {
  return new ShadowsocksError('a chunk was not sealed with this password and cipher', { cause });
}
