import type { Row } from '../data/rows-of.js';
import type { ApplicationKind, ApplicationStatus } from '../credentials/credential-records.js';
import { bigints, openScopes } from '../credentials/credential-records.js';
import type { OpenScope } from '../credentials/caller.js';

export const AUTH_LEVELS = ['unverified', 'verified', 'trusted', 'internal'] as const;
export type AuthLevel = (typeof AUTH_LEVELS)[number];
export const APPLICATION_KINDS = ['confidential', 'public', 'native'] as const;
export const APPLICATION_STATUSES = ['pending', 'approved', 'rejected', 'disabled'] as const;

/** What of an application waits for a review before users are shown it. */
export interface ProposedChange {
  readonly name?: string;
  readonly description?: string;
  /** All that there shall be. */
  readonly redirectUris?: readonly string[];
}

/** A third-party application as it is stored. */
export interface Application {
  readonly id: number;
  /** Public name in the protocol. */
  readonly clientId: string;
  readonly name: string;
  readonly description: string;
  readonly ownerId: number;
  /** Then it is as good as disabled itself. */
  readonly ownerDisabled: boolean;
  readonly kind: ApplicationKind;
  readonly authLevel: AuthLevel;
  readonly status: ApplicationStatus;
  readonly allowedScopes: readonly OpenScope[];
  readonly pkceRequired: boolean;
  readonly boundUserId: number | null;
  /** Users beside the owner whom an unverified application may serve; at most five. */
  readonly testUserIds: readonly number[];
  readonly ipAllow: readonly string[];
  readonly quotaProfile: string | null;
  readonly redirectUris: readonly string[];
  readonly proposed: ProposedChange | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An application secret or personal key as lists show it; the secret itself is not stored. */
export interface CredentialInfo {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly scopes: readonly OpenScope[] | null;
  readonly ipAllow: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly lastUsedIp: string | null;
}

export const APPLICATION_COLUMNS = `a.*, ARRAY(
  SELECT r.uri FROM application_redirect_uris r WHERE r.application_id = a.id ORDER BY r.uri) AS redirect_uris,
  EXISTS (SELECT FROM site_accounts o WHERE o.id = a.owner_id AND o.disabled_at IS NOT NULL) AS owner_disabled`;

export const CREDENTIAL_COLUMNS =
  'id, name, prefix, last_four, scopes, ip_allow, created_at, expires_at, last_used_at, last_used_ip';

export function toApplication(row: Row): Application {
  return {
    id: row['id'] as number,
    clientId: row['client_id'] as string,
    name: row['name'] as string,
    description: row['description'] as string,
    ownerId: row['owner_id'] as number,
    ownerDisabled: row['owner_disabled'] as boolean,
    kind: row['kind'] as ApplicationKind,
    authLevel: row['auth_level'] as AuthLevel,
    status: row['status'] as ApplicationStatus,
    allowedScopes: openScopes(row['allowed_scopes']),
    pkceRequired: row['pkce_required'] as boolean,
    boundUserId: row['bound_user_id'] as number | null,
    testUserIds: bigints(row['test_user_ids']),
    ipAllow: row['ip_allow'] as string[],
    quotaProfile: row['quota_profile'] as string | null,
    redirectUris: row['redirect_uris'] as string[],
    proposed: row['proposed'] as ProposedChange | null,
    createdAt: row['created_at'] as Date,
    updatedAt: row['updated_at'] as Date,
  };
}

export function toCredentialInfo(row: Row): CredentialInfo {
  return {
    id: row['id'] as number,
    name: row['name'] as string,
    prefix: row['prefix'] as string,
    lastFour: row['last_four'] as string,
    scopes: row['scopes'] === null ? null : openScopes(row['scopes']),
    ipAllow: row['ip_allow'] as string[],
    createdAt: row['created_at'] as Date,
    expiresAt: row['expires_at'] as Date | null,
    lastUsedAt: row['last_used_at'] as Date | null,
    lastUsedIp: row['last_used_ip'] as string | null,
  };
}
