import { createHash, randomBytes, timingSafeEqual, X509Certificate, type KeyObject } from 'node:crypto';
import { TunnelError } from '../errors.js';

const PREFIX = 'gtk1';
const PART = /^[A-Za-z0-9_-]{43}$/;

/**
 * What an agent is given: `gtk1.<secret>.<fingerprint of the server's key>`, each 32 bytes in base64url. While the server's key
 * is being exchanged, the fingerprint of its next key follows after another dot.
 */
export interface AgentKey {
  secret: string;
  fingerprint: string;
  nextFingerprint?: string | undefined;
}

export function formatAgentKey({ secret, fingerprint, nextFingerprint }: AgentKey): string {
  return [PREFIX, secret, fingerprint, ...(nextFingerprint === undefined ? [] : [nextFingerprint])].join('.');
}

/** The keys that a key string names, the one in use first. */
export function pinsOf({ fingerprint, nextFingerprint }: Omit<AgentKey, 'secret'>): string[] {
  return nextFingerprint === undefined ? [fingerprint] : [fingerprint, nextFingerprint];
}

/** @throws TunnelError `key_string`; the message has no part of the text. */
export function parseAgentKey(text: string): AgentKey {
  const [prefix, secret = '', fingerprint = '', nextFingerprint, ...rest] = text.trim().split('.');
  const parts = [secret, fingerprint, ...(nextFingerprint === undefined ? [] : [nextFingerprint])];
  if (prefix !== PREFIX || rest.length > 0 || !parts.every((part) => PART.test(part))) {
    throw new TunnelError('key_string', `not an agent key: ${PREFIX}, a secret and a fingerprint, with dots between`);
  }
  return { secret, fingerprint, ...(nextFingerprint !== undefined && { nextFingerprint }) };
}

/** A new secret of 256 random bits. Show it once; keep `agentKeyHash` of it. */
export function createAgentSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What a store keeps of a secret, and looks it up by: SHA-256, hex. It is random, so no slow hash is needed. */
export function agentKeyHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares two hashes in constant time. */
export function sameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** SHA-256 over a public key in DER (RFC 7469 2.4), base64url: a new certificate for the same key has the same. */
export function keyFingerprint(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

/** @throws Error of the parser for what is no certificate. */
export function certificateFingerprint(certificate: string | Buffer): string {
  return keyFingerprint(new X509Certificate(certificate).publicKey);
}
