/** Keys and ciphers of Shadowsocks 2022 (SIP022), including those of several users behind one port (SIP023). */
import { createCipheriv, createDecipheriv, createSecretKey, type CipherGCMTypes, type KeyObject } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';

const SESSION_CONTEXT = Buffer.from('shadowsocks 2022 session subkey');
const IDENTITY_CONTEXT = Buffer.from('shadowsocks 2022 identity subkey');
const BLOCK_BYTES = 16;
/** The most keys of one password; each one except the last adds a block to every stream and datagram. */
const MAX_KEYS = 8;

export interface Method2022 {
  algorithm: CipherGCMTypes;
  /**
   * The cipher for single blocks; null: the method has none, so there are neither several users nor separate headers.
   */
  blockAlgorithm: string | null;
  /** The length of keys and salts. */
  keyLength: number;
}

const METHODS: Readonly<Record<string, Method2022>> = {
  '2022-blake3-aes-128-gcm': { algorithm: 'aes-128-gcm', blockAlgorithm: 'aes-128-ecb', keyLength: 16 },
  '2022-blake3-aes-256-gcm': { algorithm: 'aes-256-gcm', blockAlgorithm: 'aes-256-ecb', keyLength: 32 },
  // Used in the same way as GCM, but the types only have GCM.
  '2022-blake3-chacha20-poly1305': {
    algorithm: 'chacha20-poly1305' as CipherGCMTypes,
    blockAlgorithm: null,
    keyLength: 32,
  },
};

export interface Keys2022 {
  method: Method2022;
  /** The keys of the servers before the user's own; `user` is the last one. */
  identities: readonly Buffer[];
  user: Buffer;
}

export function isCipher2022(name: string): boolean {
  return Object.hasOwn(METHODS, name);
}

/**
 * Parses `key` or `serverKey:userKey`, each in base64 with the length of the cipher's key. Null for an invalid
 * password.
 */
export function parseKeys2022(cipher: string, password: string): Keys2022 | null {
  const method = isCipher2022(cipher) ? METHODS[cipher] : undefined;
  if (!method) return null;
  const keys = password.split(':').map((text) => parseKey(text, method.keyLength));
  const user = keys.pop();
  const identities = keys.filter((key) => key !== null);
  if (!user || identities.length < keys.length || keys.length >= MAX_KEYS) return null;
  if (identities.length > 0 && method.blockAlgorithm === null) return null;
  return { method, identities, user };
}

function parseKey(text: string, length: number): Buffer | null {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
  const key = Buffer.from(text, 'base64');
  return key.length === length ? key : null;
}

/** The key of one direction of a stream, or of a session of datagrams, whose id is the salt. */
export function subkey(key: Buffer, salt: Uint8Array): KeyObject {
  const options = { context: SESSION_CONTEXT, dkLen: key.length };
  return createSecretKey(Buffer.from(blake3(Buffer.concat([key, salt]), options)));
}

/** The blocks that identify the key of each next server (SIP023 2.1). */
export function streamIdentities({ method, identities, user }: Keys2022, salt: Uint8Array): Buffer {
  const blocks = identities.map((key, index) => {
    const options = { context: IDENTITY_CONTEXT, dkLen: key.length };
    const identityKey = createSecretKey(Buffer.from(blake3(Buffer.concat([key, salt]), options)));
    return encryptBlock(method, identityKey, keyName(identities[index + 1] ?? user));
  });
  return Buffer.concat(blocks);
}

/** The 16 bytes that identify a key. */
export function keyName(key: Buffer): Buffer {
  return Buffer.from(blake3(key)).subarray(0, BLOCK_BYTES);
}

/** @throws RangeError for a method without a block cipher. */
export function encryptBlock({ blockAlgorithm }: Method2022, key: KeyObject, block: Uint8Array): Buffer {
  if (blockAlgorithm === null) throw new RangeError('the method has no block cipher');
  return createCipheriv(blockAlgorithm, key, null).setAutoPadding(false).update(block);
}

/** @throws RangeError for a method without a block cipher. */
export function decryptBlock({ blockAlgorithm }: Method2022, key: KeyObject, block: Uint8Array): Buffer {
  if (blockAlgorithm === null) throw new RangeError('the method has no block cipher');
  return createDecipheriv(blockAlgorithm, key, null).setAutoPadding(false).update(block);
}
