import { hash, timingSafeEqual } from 'node:crypto';
import { OAuthError } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';

/** RFC 7636 section 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;
/** SHA-256 in base64url. */
const CHALLENGE = /^[\w-]{43}$/;

/**
 * The challenge of an authorization request; undefined without one. Only S256: `plain` protects nobody (RFC 9700
 * 2.1.1).
 */
export function readChallenge(parameters: OAuthParameters): string | undefined {
  const challenge = parameters.optional('code_challenge');
  const method = parameters.optional('code_challenge_method');
  if (challenge === undefined) {
    if (method !== undefined) throw new OAuthError('invalid_request', 'code_challenge is missing');
    return undefined;
  }
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method must be S256');
  if (!CHALLENGE.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge is not a SHA-256 in base64url');
  return challenge;
}

/** @throws invalid_grant unless the verifier matches the challenge; a verifier without a challenge is a downgrade. */
export function assertVerifier(challenge: string | null, verifier: string | undefined): void {
  if (challenge === null) {
    // RFC 9700 section 4.8.2: an attacker removed the challenge from the authorization request.
    if (verifier !== undefined) throw new OAuthError('invalid_grant', 'This code was issued without a code_challenge');
    return;
  }
  if (verifier === undefined) throw new OAuthError('invalid_grant', 'code_verifier is missing');
  if (!VERIFIER.test(verifier) || !matches(challenge, challengeOf(verifier))) {
    throw new OAuthError('invalid_grant', 'code_verifier does not belong to the code_challenge');
  }
}

/** RFC 7636 section 4.2, S256. */
export function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}

function matches(first: string, second: string): boolean {
  return first.length === second.length && timingSafeEqual(Buffer.from(first), Buffer.from(second));
}
