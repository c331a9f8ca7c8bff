/** The key derivation of VMess AEAD: HMAC-SHA256 whose hash is again an HMAC, one level for each part of the path. */
import { createHash, createHmac } from 'node:crypto';

const SALT = 'VMess AEAD KDF';
const BLOCK_BYTES = 64;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;

type Hash = (message: Buffer) => Buffer;

/** 32 bytes of `key` under `path`. */
export function deriveKey(key: Buffer, ...path: readonly (string | Buffer)[]): Buffer {
  const salted: Hash = (message) => createHmac('sha256', SALT).update(message).digest();
  return path.reduce<Hash>((hash, part) => hmacOver(hash, Buffer.from(part)), salted)(key);
}

export function deriveCipherKey(key: Buffer, ...path: readonly (string | Buffer)[]): Buffer {
  return deriveKey(key, ...path).subarray(0, KEY_BYTES);
}

export function deriveNonce(key: Buffer, ...path: readonly (string | Buffer)[]): Buffer {
  return deriveKey(key, ...path).subarray(0, NONCE_BYTES);
}

/** The key that commands are sealed with: MD5 of the user's id and a constant of VMess. */
export function commandKey(id: Buffer): Buffer {
  return createHash('md5').update(id).update('c48619fe-8f02-49e0-b9e9-edf763e17e21').digest();
}

/** HMAC (RFC 2104) over any hash with blocks of 64 bytes. */
function hmacOver(hash: Hash, key: Buffer): Hash {
  const padded = Buffer.alloc(BLOCK_BYTES);
  (key.length > BLOCK_BYTES ? hash(key) : key).copy(padded);
  const inner = Buffer.from(padded.map((byte) => byte ^ 0x36));
  const outer = Buffer.from(padded.map((byte) => byte ^ 0x5c));
  return (message) => hash(Buffer.concat([outer, hash(Buffer.concat([inner, message]))]));
}
