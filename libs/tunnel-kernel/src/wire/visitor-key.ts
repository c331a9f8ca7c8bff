import { TunnelError } from '../errors.js';

const PREFIX = 'gtv1';
const PART = /^[A-Za-z0-9_-]{43}$/;

/**
 * The key string for visitors of a `secret` or `p2p` tunnel: `gtv1.<tunnel>.<secret>.<fingerprint of the server's
 * key>`, the last two 32 bytes in base64url. While the server's key is being replaced, the fingerprint of the next key
 * follows. The tunnel stores `agentKeyHash` of the secret.
 */
export interface VisitorKey {
  tunnelId: number;
  secret: string;
  fingerprint: string;
  nextFingerprint?: string | undefined;
}

export function formatVisitorKey({ tunnelId, secret, fingerprint, nextFingerprint }: VisitorKey): string {
  return [PREFIX, tunnelId, secret, fingerprint, ...(nextFingerprint === undefined ? [] : [nextFingerprint])].join('.');
}

/** @throws TunnelError `key_string`; the message contains no part of the text. */
export function parseVisitorKey(text: string): VisitorKey {
  const [prefix, id = '', secret = '', fingerprint = '', nextFingerprint, ...rest] = text.trim().split('.');
  const tunnelId = /^\d{1,16}$/.test(id) ? Number(id) : Number.NaN;
  if (prefix !== PREFIX || rest.length > 0 || !Number.isSafeInteger(tunnelId)) throw unreadable();
  if (!PART.test(secret) || !PART.test(fingerprint)) throw unreadable();
  if (nextFingerprint === undefined) return { tunnelId, secret, fingerprint };
  if (!PART.test(nextFingerprint)) throw unreadable();
  return { tunnelId, secret, fingerprint, nextFingerprint };
}

function unreadable(): TunnelError {
  return new TunnelError('key_string', `not a visitor's key: ${PREFIX}, a tunnel, a secret and a fingerprint`);
}
