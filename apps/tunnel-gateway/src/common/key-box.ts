import { hkdfSync } from 'node:crypto';
import { createSecretBox, openFromPlace, rowPlace, type SecretBox } from '@gatehouse/net';

/** The key that seals private keys of certificates. It is derived, so that the data plane gets this key only. */
export function certificateSecret(secretKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'tunnel-gateway certificates', 32));
}

/** Joins keys for the data plane, newest first. */
export function joinKeys(keys: readonly Buffer[]): string {
  return keys.map((key) => key.toString('base64')).join();
}

export function splitKeys(text: string): Buffer[] {
  return text.split(',').map((key) => Buffer.from(key, 'base64'));
}

/** Seals private keys of certificates and secrets of policies. @param keys newest first */
export function createKeyBox(keys: readonly Buffer[]): SecretBox {
  return createSecretBox(keys, 'c1');
}

/** Older texts of these tables were sealed without a place, and can still be opened. */
export const NO_PLACE = '';

/** Place of a host's private key. */
export const certificatePlace = (hostId: number): string => rowPlace({ table: 'certificates', id: hostId });

/** Place of an ACME account's key. */
export const accountPlace = (directory: string): string => `acme_accounts:${directory}`;

/** Place of a policy's secret. */
export const policyPlace = (policyId: number): string => rowPlace({ table: 'policy_options', id: policyId });

/** Opens a text of this place, or an older one without a place. @throws SecretBoxError */
export function openKept(box: SecretBox, place: string, sealed: string): string {
  return openFromPlace(box, { place, formerPlace: NO_PLACE }, sealed);
}

/** @throws RangeError if there are none */
export function newestOf([newest]: readonly Buffer[]): Buffer {
  if (newest === undefined) throw new RangeError('There is no key.');
  return newest;
}
