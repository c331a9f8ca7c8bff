const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 section 6, without padding. */
export function base32(bytes: Uint8Array): string {
  let symbols = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) symbols += ALPHABET[(held >>> (bits - 5)) & 31] ?? '';
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? symbols : symbols + (ALPHABET[(held << (5 - bits)) & 31] ?? '');
}

/** Decodes base32(); null for an invalid text. */
export function parseBase32(text: string): Buffer | null {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const symbol of text) {
    const value = ALPHABET.indexOf(symbol);
    if (value < 0) return null;
    held = (held << 5) | value;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >>> bits) & 255);
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}
