import type { LookupAddress } from 'node:dns';
import type { OAuthEndpoints } from '../config.js';
import type { ResourceRef } from '../resource.js';
import type { VerifyPassword } from './password-checks.js';
import type { GrantStore } from './grants.js';

/** An authorization server that visitors may sign in at (RFC 6749, 7636, 9207). */
export interface OAuthIssuer extends OAuthEndpoints {
  /** The name used in policies, and the expected `iss` of its answers. */
  issuer: string;
}

/** Visitors that failed verification: one report in ten seconds for each resource and policy. */
export interface FailedVisitors {
  resource: ResourceRef;
  clientId: number;
  policyId: number;
  /** Address of the last one. */
  address: string;
  /** Number of failures since the last report about this resource and policy. */
  count: number;
}

/** What the verification of visitors gets from outside. */
export interface VerificationOptions {
  /** At least 32 bytes, the same in all processes that serve the same hosts. Signs proofs. */
  secret: Uint8Array;
  /** Former secrets whose proofs are still valid. */
  formerSecrets?: readonly Uint8Array[];
  verifyPassword: VerifyPassword;
  /** Absent: kept in the memory of this process. */
  grants?: GrantStore;
  oauthIssuers?: readonly OAuthIssuer[];
  /** Addresses that callbacks of policies without `allowPrivate` may reach. Absent: public ones. */
  permits?: (address: string) => boolean;
  /** Names that such callbacks may use without TLS. */
  plainCallbackHosts?: readonly string[];
  /** Absent: the resolver of the system. */
  resolve?: (host: string) => Promise<LookupAddress[]>;
  /** Milliseconds. */
  timeouts?: { callback?: number; greeting?: number };
}
