import { createHash, hkdfSync } from 'node:crypto';
import type { TlsOptions } from 'node:tls';

const KEY_BYTES = 32;

/** The secret that both ends of a channel share, and the name by which the other end finds it. */
export interface ControlKey {
  identity: string;
  psk: Buffer;
}

/** Derives a key (HKDF, RFC 5869) from the platform's secret. One purpose's key does not open another's channel. */
export function deriveControlKey(secret: Buffer, purpose: string): ControlKey {
  const psk = Buffer.from(hkdfSync('sha256', secret, '', `gatehouse control channel ${purpose}`, KEY_BYTES));
  const fingerprint = createHash('sha256').update(psk).digest('hex').slice(0, 16);
  return { identity: `${purpose}/${fingerprint}`, psk };
}

/**
 * TLS with a pre-shared key (RFC 5489) instead of certificates: both ends prove that they have the key, and the traffic is
 * encrypted. TLS 1.2 on purpose, because its PSK suites cannot fall back to a certificate.
 */
export const CONTROL_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const satisfies TlsOptions;
