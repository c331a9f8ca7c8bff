import { hkdfSync } from 'node:crypto';
import { createSecretBox, type SecretBox } from '@gatehouse/net';

/** The key that seals the keys of certificates: of its own, so that the data plane gets this one and no other. */
export function certificateSecret(secretKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'tunnel-gateway certificates', 32));
}

/** Keys for the data plane, newest first, as one text. */
export function joinKeys(keys: readonly Buffer[]): string {
  return keys.map((key) => key.toString('base64')).join();
}

export function splitKeys(text: string): Buffer[] {
  return text.split(',').map((key) => Buffer.from(key, 'base64'));
}

/** Seals keys of certificates and secrets of policies. @param keys newest first */
export function createKeyBox(keys: readonly Buffer[]): SecretBox {
  return createSecretBox(keys, 'c1');
}

/** @throws RangeError for none */
export function newestOf([newest]: readonly Buffer[]): Buffer {
  if (newest === undefined) throw new RangeError('There is no key.');
  return newest;
}
