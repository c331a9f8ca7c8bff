import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 characters out of 62 have 256 bits. */
const SECRET_LENGTH = 43;
const CHECK_LENGTH = 6;

export interface ParsedApiKey {
  readonly prefix: string;
  /** SHA-256 of the whole key: what is stored and looked up. */
  readonly hash: Buffer;
  readonly lastFour: string;
}

/**
 * A new key: prefix such as `gpk_`, 256 random bits in base62, and their CRC32, which helps scanners and reveals typing
 * errors.
 */
export function createApiKey(prefix: string): string {
  const body = `${prefix}${randomSymbols(SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** Checks shape and checksum without a lookup; undefined for anything that this service cannot have issued. */
export function parseApiKey(text: string, prefix: string): ParsedApiKey | undefined {
  if (text.length !== prefix.length + SECRET_LENGTH + CHECK_LENGTH || !text.startsWith(prefix)) return undefined;
  const body = text.slice(0, -CHECK_LENGTH);
  if (!/^[0-9A-Za-z]+$/.test(text.slice(prefix.length)) || checksum(body) !== text.slice(-CHECK_LENGTH))
    return undefined;
  return { prefix, hash: hash('sha256', text, 'buffer'), lastFour: text.slice(-4) };
}

function checksum(body: string): string {
  let value = crc32(body);
  let symbols = '';
  for (let index = 0; index < CHECK_LENGTH; index++) {
    symbols = `${ALPHABET[value % 62] ?? ''}${symbols}`;
    value = Math.floor(value / 62);
  }
  return symbols;
}

function randomSymbols(length: number): string {
  let symbols = '';
  while (symbols.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 = 4 * 62: bytes above it would favour the first characters.
      if (byte < 248 && symbols.length < length) symbols += ALPHABET[byte % 62] ?? '';
    }
  }
  return symbols;
}
