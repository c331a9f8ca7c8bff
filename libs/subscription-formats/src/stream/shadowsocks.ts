import { invalid, missing } from '../errors.js';
import { decodeBase64 } from '../text/base64.js';

const CIPHER = /^[a-z0-9][a-z0-9._+-]{1,39}$/;
const ALIASES = new Map([
  ['chacha20-poly1305', 'chacha20-ietf-poly1305'],
  ['xchacha20-poly1305', 'xchacha20-ietf-poly1305'],
  ['aead_chacha20_poly1305', 'chacha20-ietf-poly1305'],
  ['aead_aes_128_gcm', 'aes-128-gcm'],
  ['aead_aes_192_gcm', 'aes-192-gcm'],
  ['aead_aes_256_gcm', 'aes-256-gcm'],
  ['plain', 'none'],
  ['dummy', 'none'],
]);
const KEY_BYTES = new Map([
  ['2022-blake3-aes-128-gcm', 16],
  ['2022-blake3-aes-256-gcm', 32],
  ['2022-blake3-chacha20-poly1305', 32],
]);

/** Cipher name in lower case, aliases resolved. Ciphers that cannot be dialled are kept, so that the node is still listed. */
export function readCipher(raw: string | undefined): string {
  if (raw === undefined || raw.trim() === '') throw missing('cipher');
  const name = raw.trim().toLowerCase();
  if (!CIPHER.test(name)) throw invalid('cipher', 'a cipher name');
  return ALIASES.get(name) ?? name;
}

/** Password of a cipher; 2022 ciphers take base64 keys of their exact length, joined by `:` (SIP022). */
export function readShadowsocksPassword(cipher: string, password: string): string {
  const bytes = KEY_BYTES.get(cipher);
  if (password === '' && cipher !== 'none') throw missing('password');
  if (bytes === undefined) return password;
  for (const key of password.split(':')) {
    if (decodeBase64(key)?.length !== bytes) throw invalid('password', `base64 keys of ${bytes} bytes each`);
  }
  return password;
}

export function is2022Cipher(cipher: string): boolean {
  return cipher.startsWith('2022-');
}
