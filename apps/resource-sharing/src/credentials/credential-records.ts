import { OPEN_SCOPES, type OpenScope } from './caller.js';
import { AddressRanges } from './address-ranges.js';
import { identityScopes, type IdentityScope } from './grant-scopes.js';
import type { Subject } from './revocations.js';

export type ApplicationKind = 'confidential' | 'public' | 'native';
export type ApplicationStatus = 'pending' | 'approved' | 'rejected' | 'disabled';

export interface UserRecord {
  readonly id: number;
  readonly disabled: boolean;
  /** Milliseconds since the epoch; null: the user never had Premium. */
  readonly premiumUntil: number | null;
  readonly permissions: readonly string[];
}

export interface ClientRecord {
  readonly id: number;
  readonly clientId: string;
  readonly ownerId: number;
  readonly name: string;
  readonly kind: ApplicationKind;
  /** False for a rejected or disabled application, and for one whose owner is disabled. */
  readonly usable: boolean;
  readonly allowedScopes: readonly OpenScope[];
  readonly quotaProfile: string | null;
  readonly addresses: AddressRanges;
}

/** True if everybody who has the application has what it sends. */
export function isPublic({ kind }: Pick<ClientRecord, 'kind'>): boolean {
  return kind !== 'confidential';
}

/** Who calls, apart from the user of a token: a key, or a public application that its token names. */
export interface CallingCredential {
  /** Null for a token alone. */
  readonly id: number | null;
  readonly kind: 'application' | 'personal' | 'test';
  readonly name: string;
  /** Those that the credential and, for an application, its registration allow. */
  readonly scopes: readonly OpenScope[];
  readonly application: ClientRecord | null;
  /** Holder of the personal key, or the user of the application. */
  readonly user: UserRecord | null;
}

/** An application secret, test key or personal key with its application and user. */
export interface KeyRecord extends CallingCredential {
  readonly id: number;
  readonly expiresAt: number | null;
  readonly revoked: boolean;
  readonly addresses: AddressRanges;
  readonly subjects: readonly Subject[];
}

/** A user's access token with its grant. */
export interface TokenRecord {
  readonly grantId: number;
  readonly applicationId: number;
  readonly clientId: string;
  readonly scopes: readonly OpenScope[];
  /** What userinfo may tell; empty without `openid`. */
  readonly identityScopes: readonly IdentityScope[];
  readonly expiresAt: number;
  /**
   * Also true if the grant is revoked, or the user is disabled or no longer among those whom the application can serve.
   */
  readonly revoked: boolean;
  readonly user: UserRecord;
  readonly subjects: readonly Subject[];
}

export function intersect<S extends string>(first: readonly S[], second: readonly string[]): S[] {
  return first.filter((scope) => second.includes(scope));
}

/** The scopes among some texts, in the order of OPEN_SCOPES. */
export function openScopes(texts: readonly string[]): OpenScope[] {
  return OPEN_SCOPES.filter((scope) => texts.includes(scope));
}

/** A bigint[]; pg leaves its elements as text. */
export function bigints(values: readonly (number | string)[]): number[] {
  return values.map(Number);
}

/** A row of CLIENT_COLUMNS. */
export interface ClientRow {
  readonly application_id: number;
  readonly client_id: string;
  readonly application_name: string;
  readonly application_kind: ApplicationKind;
  readonly status: ApplicationStatus;
  readonly allowed_scopes: readonly string[];
  readonly quota_profile: string | null;
  readonly application_ip_allow: readonly string[];
  readonly owner_id: number;
  readonly owner_disabled_at: Date | null;
}

/** Columns of a ClientRow from `applications a JOIN site_accounts o` (its owner). */
export const CLIENT_COLUMNS = `a.id AS application_id, a.client_id, a.name AS application_name, a.kind AS application_kind,
  a.status, a.allowed_scopes, a.quota_profile, a.ip_allow AS application_ip_allow, a.owner_id,
  o.disabled_at AS owner_disabled_at`;

export function toClientRecord(row: ClientRow): ClientRecord {
  return {
    id: row.application_id,
    clientId: row.client_id,
    ownerId: row.owner_id,
    name: row.application_name,
    kind: row.application_kind,
    usable: ['pending', 'approved'].includes(row.status) && row.owner_disabled_at === null,
    allowedScopes: openScopes(row.allowed_scopes),
    quotaProfile: row.quota_profile,
    addresses: new AddressRanges(row.application_ip_allow),
  };
}

/** A row of USER_COLUMNS. */
export interface UserRow {
  readonly user_id: number;
  readonly user_disabled_at: Date | null;
  /** pg reads `infinity` as a number. */
  readonly premium_until: Date | number | null;
  readonly permissions: readonly string[];
}

/** Columns of a UserRow from `site_accounts u`. */
export const USER_COLUMNS = 'u.id AS user_id, u.disabled_at AS user_disabled_at, u.premium_until, u.permissions';

export function toUserRecord(row: UserRow): UserRecord {
  return {
    id: row.user_id,
    disabled: row.user_disabled_at !== null,
    premiumUntil: row.premium_until === null ? null : Number(row.premium_until),
    permissions: row.permissions,
  };
}

/** A credential with its application and its user, each null if it has none. */
export type KeyRow = {
  readonly id: number;
  readonly kind: KeyRecord['kind'];
  readonly name: string;
  readonly scopes: readonly string[] | null;
  readonly ip_allow: readonly string[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
} & (ClientRow | { readonly application_id: null }) &
  (UserRow | { readonly user_id: null });

export function toKeyRecord(row: KeyRow): KeyRecord {
  const application = row.application_id === null ? null : toClientRecord(row);
  const user = row.user_id === null ? null : toUserRecord(row);
  const own = row.scopes === null ? null : openScopes(row.scopes);
  const subjects: Subject[] = [`credential:${row.id}`];
  if (application !== null) subjects.push(`application:${application.id}`, `user:${application.ownerId}`);
  if (user !== null) subjects.push(`user:${user.id}`);
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    scopes: application === null ? (own ?? []) : intersect(own ?? application.allowedScopes, application.allowedScopes),
    expiresAt: row.expires_at?.getTime() ?? null,
    revoked: row.revoked_at !== null,
    addresses: new AddressRanges(row.ip_allow),
    application,
    user,
    subjects,
  };
}

/** An access token with its grant and its user. */
export interface TokenRow extends UserRow {
  readonly hash: Buffer;
  readonly scopes: readonly string[];
  readonly expires_at: Date;
  readonly grant_id: number;
  readonly application_id: number;
  readonly client_id: string;
  readonly grant_scopes: readonly string[];
  readonly ended: boolean;
}

export function toTokenRecord(row: TokenRow): TokenRecord {
  const user = toUserRecord(row);
  return {
    grantId: row.grant_id,
    applicationId: row.application_id,
    clientId: row.client_id,
    scopes: intersect(openScopes(row.scopes), row.grant_scopes),
    identityScopes: intersect(identityScopes(row.scopes), row.grant_scopes),
    expiresAt: row.expires_at.getTime(),
    revoked: row.ended || user.disabled,
    user,
    subjects: [
      `grant:${row.grant_id}`,
      `application:${row.application_id}`,
      `user:${user.id}`,
      `token:${row.hash.toString('hex')}`,
    ],
  };
}
