import type { X509Certificate } from 'node:crypto';
import { isObject } from './acme-problem.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The longest back-off. */
const LONGEST_WAIT_MS = DAY_MS;
/**
 * Part of the lifetime over which renewals are spread, so that certificates ordered together are not renewed together.
 */
const JITTER = 1 / 24;

export interface Lifetime {
  /** Milliseconds since the epoch. */
  notBefore: number;
  notAfter: number;
}

/** When a third of the lifetime is left, or up to a twenty-fourth of the lifetime earlier. `random` is from 0 to 1. */
export function renewalTime({ notBefore, notAfter }: Lifetime, random: number): number {
  const lifetime = notAfter - notBefore;
  return Math.round(notAfter - lifetime / 3 - random * JITTER * lifetime);
}

/** A minute after the first failure, doubled after each further one, up to a day; varied by a tenth. */
export function backOff(failures: number, random: number): number {
  const wait = Math.min(MINUTE_MS * 2 ** Math.min(failures - 1, 20), LONGEST_WAIT_MS);
  return Math.round(wait * (0.9 + random * 0.1));
}

/** Whether to warn: less than a quarter of the lifetime is left, and renewal should have happened by then. */
export function expiresSoon({ notBefore, notAfter }: Lifetime, now: number): boolean {
  return notAfter - now < Math.min((notAfter - notBefore) / 4, 14 * DAY_MS);
}

/**
 * A random moment in the window of RFC 9773 4.2 if the planned one is after it; else null, so that a planned moment in
 * the window stays. Milliseconds since the epoch.
 */
export function timeInWindow(window: unknown, planned: number, random: number): number | null {
  if (!isObject(window)) return null;
  const [start, end] = [Date.parse(String(window['start'])), Date.parse(String(window['end']))];
  if (Number.isNaN(start) || !(end > start) || planned <= end) return null;
  return Math.round(start + random * (end - start));
}

const AUTHORITY_KEY_ID = Buffer.from('0603551d23', 'hex');

/** The id of a certificate in RFC 9773 4.1; null if it does not name its issuer's key. */
export function renewalId(certificate: X509Certificate): string | null {
  const { raw, serialNumber } = certificate;
  const at = raw.indexOf(AUTHORITY_KEY_ID);
  if (at < 0) return null;
  // OCTET STRING { SEQUENCE { [0] keyIdentifier } }: every length fits into one byte, because a key identifier has
  // about 20 bytes.
  const [octets, , sequence, , tag, length = 0] = raw.subarray(at + AUTHORITY_KEY_ID.length);
  if (octets !== 0x04 || sequence !== 0x30 || tag !== 0x80 || length > 0x40) return null;
  const start = at + AUTHORITY_KEY_ID.length + 6;
  const keyId = raw.subarray(start, start + length);
  // The serial number in DER: with a leading zero byte if the first bit is set.
  const serial = Buffer.from(serialNumber.length % 2 === 0 ? serialNumber : `0${serialNumber}`, 'hex');
  const signed = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), serial]) : serial;
  return `${keyId.toString('base64url')}.${signed.toString('base64url')}`;
}
