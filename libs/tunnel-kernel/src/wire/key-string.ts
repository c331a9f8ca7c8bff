import { createHash, randomBytes, timingSafeEqual, X509Certificate, type KeyObject } from 'node:crypto';
import { TunnelError } from '../errors.js';

const PREFIX = 'gtk1';
const PART = /^[A-Za-z0-9_-]{43}$/;

/**
 * The key string of an agent: `gtk1.<secret>.<fingerprint of the server's key>`, each 32 bytes in base64url. While the
 * server's key is being replaced, the fingerprint of the next key follows after another dot.
 */
export interface AgentKey {
  secret: string;
  fingerprint: string;
  nextFingerprint?: string | undefined;
}

export function formatAgentKey({ secret, fingerprint, nextFingerprint }: AgentKey): string {
  return [PREFIX, secret, fingerprint, ...(nextFingerprint === undefined ? [] : [nextFingerprint])].join('.');
}

/** The server keys in a key string, the current one first. */
export function pinsOf({ fingerprint, nextFingerprint }: Omit<AgentKey, 'secret'>): string[] {
  return nextFingerprint === undefined ? [fingerprint] : [fingerprint, nextFingerprint];
}

/** @throws TunnelError `key_string`; the message contains no part of the text. */
export function parseAgentKey(text: string): AgentKey {
  const [prefix, secret = '', fingerprint = '', nextFingerprint, ...rest] = text.trim().split('.');
  const parts = [secret, fingerprint, ...(nextFingerprint === undefined ? [] : [nextFingerprint])];
  if (prefix !== PREFIX || rest.length > 0 || !parts.every((part) => PART.test(part))) {
    throw new TunnelError('key_string', `not an agent key: ${PREFIX}, a secret and a fingerprint, with dots between`);
  }
  return { secret, fingerprint, ...(nextFingerprint !== undefined && { nextFingerprint }) };
}

/** A new secret of 256 random bits. Show it once; store its `agentKeyHash`. */
export function createAgentSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a secret and used to look it up: SHA-256, hex. The secret is random, so no slow hash is needed. */
export function agentKeyHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares two hashes in constant time. */
export function sameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** SHA-256 over a public key in DER (RFC 7469 2.4), base64url: certificates for the same key share it. */
export function keyFingerprint(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

/** @throws Error of the parser for an invalid certificate. */
export function certificateFingerprint(certificate: string | Buffer): string {
  return keyFingerprint(new X509Certificate(certificate).publicKey);
}
