/** Keys and ciphers of Shadowsocks AEAD (SIP004). */
import { createHash, createSecretKey, hkdfSync, type CipherGCMTypes, type KeyObject } from 'node:crypto';
import { freshBytes } from '@gatehouse/net';

export const TAG_LENGTH = 16;
export const NONCE_LENGTH = 12;

export interface AeadMethod {
  /** Name that `node:crypto` knows. ChaCha20-Poly1305 takes the same calls as GCM; the types only name GCM. */
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

/** @throws RangeError for a name that `isEmbeddedCipher` denies. */
export function aeadMethod(name: string): AeadMethod {
  const found = isEmbeddedCipher(name) ? METHODS[name] : undefined;
  if (!found) throw new RangeError(`cipher ${name} is not known`);
  return found;
}

/** OpenSSL's EVP_BytesToKey with MD5, one round and no salt: what every Shadowsocks password goes through. */
export function masterKey(password: string, length: number): Buffer {
  const blocks: Buffer[] = [];
  let last = Buffer.alloc(0);
  for (let size = 0; size < length; size += last.length) {
    last = createHash('md5').update(last).update(password).digest();
    blocks.push(last);
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** Drawing each salt alone costs more than deriving its key. */
export function freshSalt({ saltLength }: AeadMethod): Buffer {
  return freshBytes(saltLength);
}

/** Session key of one direction. A KeyObject: with a Buffer every seal would set the key up anew. */
export function sessionKey(master: Buffer, salt: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha1', master, salt, 'ss-subkey', master.length)));
}
