/** Keys and ciphers of Shadowsocks 2022 (SIP022), with those of several users behind one port (SIP023). */
import { createCipheriv, createDecipheriv, createSecretKey, type CipherGCMTypes, type KeyObject } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';

const SESSION_CONTEXT = Buffer.from('shadowsocks 2022 session subkey');
const IDENTITY_CONTEXT = Buffer.from('shadowsocks 2022 identity subkey');
const BLOCK_BYTES = 16;
/** Keys of one password: each but the last costs a block in front of every stream and datagram. */
const MAX_KEYS = 8;

export interface Method2022 {
  algorithm: CipherGCMTypes;
  /** Cipher of single blocks; null: the method has none, and so neither several users nor separate headers. */
  blockAlgorithm: string | null;
  /** Of keys and salts. */
  keyLength: number;
}

const METHODS: Readonly<Record<string, Method2022>> = {
  '2022-blake3-aes-128-gcm': { algorithm: 'aes-128-gcm', blockAlgorithm: 'aes-128-ecb', keyLength: 16 },
  '2022-blake3-aes-256-gcm': { algorithm: 'aes-256-gcm', blockAlgorithm: 'aes-256-ecb', keyLength: 32 },
  // It takes the same calls as GCM; the types only name GCM.
  '2022-blake3-chacha20-poly1305': {
    algorithm: 'chacha20-poly1305' as CipherGCMTypes,
    blockAlgorithm: null,
    keyLength: 32,
  },
};

export interface Keys2022 {
  method: Method2022;
  /** Of the servers on the way to the user's own, which is `user`. */
  identities: readonly Buffer[];
  user: Buffer;
}

export function isCipher2022(name: string): boolean {
  return Object.hasOwn(METHODS, name);
}

/** `key` or `serverKey:userKey`, each base64 of as many bytes as the cipher's key. Null: it is no such password. */
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

/** Key of one direction, or of one session of datagrams, whose id is its salt. */
export function subkey(key: Buffer, salt: Uint8Array): KeyObject {
  const options = { context: SESSION_CONTEXT, dkLen: key.length };
  return createSecretKey(Buffer.from(blake3(Buffer.concat([key, salt]), options)));
}

/** What tells each server on the way which key the next one has (SIP023 2.1). */
export function streamIdentities({ method, identities, user }: Keys2022, salt: Uint8Array): Buffer {
  const blocks = identities.map((key, index) => {
    const options = { context: IDENTITY_CONTEXT, dkLen: key.length };
    const identityKey = createSecretKey(Buffer.from(blake3(Buffer.concat([key, salt]), options)));
    return encryptBlock(method, identityKey, keyName(identities[index + 1] ?? user));
  });
  return Buffer.concat(blocks);
}

/** The 16 bytes by which servers know a key. */
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
