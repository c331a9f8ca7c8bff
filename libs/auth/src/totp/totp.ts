import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { base32 } from './base32.js';

/** The defaults of authenticator apps: SHA-1, six digits, thirty seconds. */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** RFC 4226 section 4: 160 bits. */
const SECRET_BYTES = 20;
/** Clocks may differ by a step (RFC 6238 section 5.2). */
const WINDOW = 1;

export function createTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The code of a step (RFC 4226 section 5.3). */
export function totpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  const number = digest.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step (RFC 6238: seconds since the epoch / 30) of this code, now or one step away; undefined if there is none. The
 * caller stores it: a code is valid once, and no code of an earlier step is valid after it.
 */
export function matchingTotpStep(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const given = Buffer.from(code);
  const current = Math.floor(nowMs / 1_000 / STEP_SECONDS);
  let found: number | undefined;
  for (let step = Math.max(0, current - WINDOW); step <= current + WINDOW; step++) {
    const expected = Buffer.from(totpCode(secret, step));
    if (given.length === expected.length && timingSafeEqual(given, expected)) found = step;
  }
  return found;
}

export interface TotpAccount {
  readonly issuer: string;
  readonly account: string;
}

/** What authenticator apps read from a QR code. */
export function totpUri(secret: Uint8Array, { issuer, account }: TotpAccount): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = new URLSearchParams({ secret: base32(secret), issuer }).toString().replaceAll('+', '%20');
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
}
