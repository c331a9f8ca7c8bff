import type { LookupAddress } from 'node:dns';
import type { OAuthEndpoints } from '../config.js';
import type { ResourceRef } from '../resource.js';
import type { VerifyPassword } from './password-checks.js';
import type { GrantStore } from './grants.js';

/** An authorization server that visitors may sign in at (RFC 6749, 7636, 9207). */
export interface OAuthIssuer extends OAuthEndpoints {
  /** What policies name it by, and what `iss` of its answers must be. */
  issuer: string;
}

/** Visitors who did not prove who they are: one report in ten seconds for each resource and policy. */
export interface FailedVisitors {
  resource: ResourceRef;
  clientId: number;
  policyId: number;
  /** Of the last one. */
  address: string;
  /** How many since the last report about this resource and policy. */
  count: number;
}

/** What the verification of visitors takes from outside. */
export interface VerificationOptions {
  /** At least 32 bytes, the same in all processes that serve the same hosts: proofs are signed with it. */
  secret: Uint8Array;
  /** Proofs that were signed with one of these before the secret was replaced hold, too. */
  formerSecrets?: readonly Uint8Array[];
  verifyPassword: VerifyPassword;
  /** Absent: in the memory of this process. */
  grants?: GrantStore;
  oauthIssuers?: readonly OAuthIssuer[];
  /** Addresses that callbacks of policies without `allowPrivate` may lead to. Absent: public ones. */
  permits?: (address: string) => boolean;
  /** Names that such callbacks may use without TLS. */
  plainCallbackHosts?: readonly string[];
  /** Absent: that of the system. */
  resolve?: (host: string) => Promise<LookupAddress[]>;
  /** Milliseconds. */
  timeouts?: { callback?: number; greeting?: number };
}
