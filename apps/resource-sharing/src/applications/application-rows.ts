import type { ApplicationKind, ApplicationStatus } from '../credentials/credential-records.js';
import { bigints, openScopes } from '../credentials/credential-records.js';
import type { OpenScope } from '../credentials/caller.js';

export const AUTH_LEVELS = ['unverified', 'verified', 'trusted', 'internal'] as const;
export type AuthLevel = (typeof AUTH_LEVELS)[number];
export const APPLICATION_KINDS = ['confidential', 'public', 'native'] as const;
export const APPLICATION_STATUSES = ['pending', 'approved', 'rejected', 'disabled'] as const;

/** Changes of an application that have to be reviewed before users see them. */
export interface ProposedChange {
  readonly name?: string;
  readonly description?: string;
  /** The complete list after the change. */
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
  /** An application of a disabled owner counts as disabled. */
  readonly ownerDisabled: boolean;
  readonly kind: ApplicationKind;
  readonly authLevel: AuthLevel;
  readonly status: ApplicationStatus;
  readonly allowedScopes: readonly OpenScope[];
  readonly pkceRequired: boolean;
  readonly boundUserId: number | null;
  /** Users, apart from the owner, whom an unverified application can serve; at most five. */
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

/** A credential at the only moment when its secret can be read. */
export interface IssuedCredential {
  readonly secret: string;
  readonly info: CredentialInfo;
}

/** An application as APPLICATION_COLUMNS selects it: pg returns the elements of a bigint[] as text. */
export interface ApplicationRow extends Omit<Application, 'allowedScopes' | 'testUserIds'> {
  readonly allowedScopes: readonly string[];
  readonly testUserIds: readonly (number | string)[];
}

/** A credential as CREDENTIAL_COLUMNS selects it. */
export interface CredentialRow extends Omit<CredentialInfo, 'scopes'> {
  readonly scopes: readonly string[] | null;
}

/** Columns of an ApplicationRow from `applications a`. */
export const APPLICATION_COLUMNS = `a.id, a.client_id AS "clientId", a.name, a.description, a.owner_id AS "ownerId",
  EXISTS (SELECT FROM site_accounts o WHERE o.id = a.owner_id AND o.disabled_at IS NOT NULL) AS "ownerDisabled",
  a.kind, a.auth_level AS "authLevel", a.status, a.allowed_scopes AS "allowedScopes", a.pkce_required AS "pkceRequired",
  a.bound_user_id AS "boundUserId", a.test_user_ids AS "testUserIds", a.ip_allow AS "ipAllow",
  a.quota_profile AS "quotaProfile", ARRAY(
    SELECT r.uri FROM application_redirect_uris r WHERE r.application_id = a.id ORDER BY r.uri) AS "redirectUris",
  a.proposed, a.created_at AS "createdAt", a.updated_at AS "updatedAt"`;

/** Columns of a CredentialRow from `credentials`. */
export const CREDENTIAL_COLUMNS = `id, name, prefix, last_four AS "lastFour", scopes, ip_allow AS "ipAllow",
  created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt", last_used_ip AS "lastUsedIp"`;

export function toApplication(row: ApplicationRow): Application {
  return { ...row, allowedScopes: openScopes(row.allowedScopes), testUserIds: bigints(row.testUserIds) };
}

export function toCredentialInfo(row: CredentialRow): CredentialInfo {
  return { ...row, scopes: row.scopes === null ? null : openScopes(row.scopes) };
}
