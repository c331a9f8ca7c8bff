/** Keys and ciphers of Shadowsocks AEAD (SIP004). */
import { createHash, createSecretKey, hkdfSync, type CipherGCMTypes, type KeyObject } from 'node:crypto';
import { freshBytes } from '@gatehouse/net';

export const TAG_LENGTH = 16;
export const NONCE_LENGTH = 12;

export interface AeadMethod {
  /** The name in `node:crypto`. ChaCha20-Poly1305 is used in the same way as GCM, but the types only have GCM. */
  algorithm: CipherGCMTypes;
  keyLength: number;
  saltLength: number;
}

const METHODS: Readonly<Record<string, AeadMethod>> = {
  'aes-128-gcm': method('aes-128-gcm', 16),
  'aes-192-gcm': method('aes-192-gcm', 24),
  'aes-256-gcm': method('aes-256-gcm', 32),
  'chacha20-ietf-poly1305': method('chacha20-poly1305', 32),
  'chacha20-poly1305': method('chacha20-poly1305', 32),
};

function method(algorithm: string, keyLength: number): AeadMethod {
  return { algorithm: algorithm as CipherGCMTypes, keyLength, saltLength: keyLength };
}

export function isEmbeddedCipher(name: string): boolean {
  return Object.hasOwn(METHODS, name);
}

/** @throws RangeError for a name that `isEmbeddedCipher` does not accept. */
export function aeadMethod(name: string): AeadMethod {
  const found = isEmbeddedCipher(name) ? METHODS[name] : undefined;
  if (!found) throw new RangeError(`cipher ${name} is not known`);
  return found;
}

/** OpenSSL's EVP_BytesToKey with MD5, one round and no salt, which turns every Shadowsocks password into a key. */
export function masterKey(password: string, length: number): Buffer {
  const blocks: Buffer[] = [];
  let last = Buffer.alloc(0);
  for (let size = 0; size < length; size += last.length) {
    last = createHash('md5').update(last).update(password).digest();
    blocks.push(last);
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** From a buffer of random bytes, because drawing each salt alone costs more than deriving its key. */
export function freshSalt({ saltLength }: AeadMethod): Buffer {
  return freshBytes(saltLength);
}

/**
 * The session key of one direction. It is a KeyObject, because with a Buffer every chunk would set up the key again.
 */
export function sessionKey(master: Buffer, salt: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha1', master, salt, 'ss-subkey', master.length)));
}
