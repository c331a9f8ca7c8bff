import { createPrivateKey, hkdfSync } from 'node:crypto';

/** As long as tickets can be opened. Resumed or not: within this time an agent is shown the server's key again. */
const PERIOD_MS = 12 * 3_600_000;
/** As Node wants them: name, HMAC key and AES key of 16 bytes each. */
const BYTES = 48;

/** Number of the period that `now` is in. */
export function resumptionPeriod(now: number): number {
  return Math.floor(now / PERIOD_MS);
}

/**
 * Keys of the tickets with which TLS sessions are resumed. They follow from the server's private key, so all processes of a gateway
 * have the same ones and share nothing else. `announced`: what full handshakes tell agents about keys; once that changes,
 * no earlier session is resumed, and every agent is shown the key.
 */
export function resumptionKeys(privateKey: string, announced: readonly string[], period: number): Buffer {
  const secret = createPrivateKey(privateKey).export({ format: 'der', type: 'pkcs8' });
  const info = JSON.stringify(['gatehouse tls tickets', ...announced, period]);
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), info, BYTES));
}
