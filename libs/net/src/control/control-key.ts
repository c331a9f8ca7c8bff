import { createHash, hkdfSync } from 'node:crypto';
import type { TlsOptions } from 'node:tls';

const KEY_BYTES = 32;

/** The secret that both ends of one channel share, and the name under which the other end finds it. */
export interface ControlKey {
  identity: string;
  psk: Buffer;
}

/** Derived (HKDF, RFC 5869) from a secret of the platform: `purpose` keeps one channel's key from opening another's. */
export function deriveControlKey(secret: Buffer, purpose: string): ControlKey {
  const psk = Buffer.from(hkdfSync('sha256', secret, '', `gatehouse control channel ${purpose}`, KEY_BYTES));
  const fingerprint = createHash('sha256').update(psk).digest('hex').slice(0, 16);
  return { identity: `${purpose}/${fingerprint}`, psk };
}

/**
 * TLS with a shared key (RFC 5489) instead of certificates: both ends prove that they have it, and what is said stays
 * between them. TLS 1.2 on purpose: its suites with a shared key cannot fall back to a certificate of somebody else.
 */
export const CONTROL_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const satisfies TlsOptions;
