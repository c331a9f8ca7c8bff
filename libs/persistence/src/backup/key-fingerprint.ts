import { createHmac } from 'node:crypto';

/**
 * Distinguishes secret keys and reveals nothing about them: a keyed hash of a constant, under a key of 32 random
 * bytes. Hex, 128 bits.
 */
export function keyFingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('gatehouse backup: which secret key').digest('hex').slice(0, 32);
}
