import { invalid } from '../errors.js';

const CIPHERS = new Set(['auto', 'aes-128-gcm', 'chacha20-poly1305', 'none', 'zero', 'aes-128-cfb', 'aes-128-ctr']);
const ALIASES = new Map([
  ['chacha20-ietf-poly1305', 'chacha20-poly1305'],
  ['chacha20', 'chacha20-poly1305'],
]);

/** Body cipher of VMess; `auto` when absent. */
export function readVmessCipher(raw: string | undefined): string {
  const name = (raw ?? '').trim().toLowerCase();
  if (name === '') return 'auto';
  const cipher = ALIASES.get(name) ?? name;
  if (!CIPHERS.has(cipher)) throw invalid('cipher', 'auto, aes-128-gcm, chacha20-poly1305, none or zero');
  return cipher;
}
