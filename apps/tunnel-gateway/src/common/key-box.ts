import { hkdfSync } from 'node:crypto';
import { createSecretBox, openFromPlace, rowPlace, type SecretBox } from '@gatehouse/net';

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

/** Texts of these tables were sealed without a place once, and still open. */
export const NO_PLACE = '';

/** Where the key of a host's certificate is kept. */
export const certificatePlace = (hostId: number): string => rowPlace({ table: 'certificates', id: hostId });

/** Where the key of the account with an authority is kept. */
export const accountPlace = (directory: string): string => `acme_accounts:${directory}`;

/** Where the secret of a policy is kept. */
export const policyPlace = (policyId: number): string => rowPlace({ table: 'policy_options', id: policyId });

/** Opens a text of this place, or one of before that has none. @throws SecretBoxError */
export function openKept(box: SecretBox, place: string, sealed: string): string {
  return openFromPlace(box, { place, formerPlace: NO_PLACE }, sealed);
}

/** @throws RangeError for none */
export function newestOf([newest]: readonly Buffer[]): Buffer {
  if (newest === undefined) throw new RangeError('There is no key.');
  return newest;
}
