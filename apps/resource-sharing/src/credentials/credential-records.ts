import type { Row } from '../data/rows-of.js';
import { OPEN_SCOPES, type OpenScope } from './caller.js';
import { AddressRanges } from './address-ranges.js';
import type { Subject } from './revocations.js';

export type ApplicationKind = 'confidential' | 'public' | 'native';
export type ApplicationStatus = 'pending' | 'approved' | 'rejected' | 'disabled';

export interface UserRecord {
  readonly id: number;
  readonly disabled: boolean;
  /** Milliseconds since the epoch; null: never had Premium. */
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

/** An application secret or personal key with whom it stands for. */
export interface KeyRecord {
  readonly id: number;
  readonly kind: 'application' | 'personal';
  readonly name: string;
  /** Of the credential and, for an application secret, of its application too. */
  readonly scopes: readonly OpenScope[];
  readonly expiresAt: number | null;
  readonly revoked: boolean;
  readonly addresses: AddressRanges;
  readonly application: ClientRecord | null;
  /** Holder of the personal key, or the user that the application is bound to. */
  readonly user: UserRecord | null;
  readonly subjects: readonly Subject[];
}

/** A user's access token with its grant. */
export interface TokenRecord {
  readonly grantId: number;
  readonly applicationId: number;
  /** Of the token and its grant. */
  readonly scopes: readonly OpenScope[];
  readonly expiresAt: number;
  /** True too when the grant is revoked, the user disabled, or no longer among those whom the application may serve. */
  readonly revoked: boolean;
  readonly user: UserRecord;
  readonly subjects: readonly Subject[];
}

export function intersect(first: readonly OpenScope[], second: readonly OpenScope[]): OpenScope[] {
  return first.filter((scope) => second.includes(scope));
}

/** The scopes among some texts, in the order of OPEN_SCOPES. */
export function openScopes(texts: unknown): OpenScope[] {
  const given = texts as readonly string[];
  return OPEN_SCOPES.filter((scope) => given.includes(scope));
}

/** A bigint[]; pg leaves its elements as text. */
export function bigints(value: unknown): number[] {
  return (value as (number | string)[]).map(Number);
}

/** Columns of a ClientRecord from `applications a JOIN site_accounts o` (its owner). */
export const CLIENT_COLUMNS = `a.id AS application_id, a.client_id, a.name AS application_name, a.kind AS application_kind,
  a.status, a.allowed_scopes, a.quota_profile, a.ip_allow AS application_ip_allow, a.owner_id,
  o.disabled_at AS owner_disabled_at`;

export function toClientRecord(row: Row): ClientRecord {
  return {
    id: row['application_id'] as number,
    clientId: row['client_id'] as string,
    ownerId: row['owner_id'] as number,
    name: row['application_name'] as string,
    kind: row['application_kind'] as ApplicationKind,
    usable: ['pending', 'approved'].includes(row['status'] as string) && row['owner_disabled_at'] === null,
    allowedScopes: openScopes(row['allowed_scopes']),
    quotaProfile: row['quota_profile'] as string | null,
    addresses: new AddressRanges(row['application_ip_allow'] as string[]),
  };
}

/** Columns of a UserRecord from `site_accounts u`. */
export const USER_COLUMNS = 'u.id AS user_id, u.disabled_at AS user_disabled_at, u.premium_until, u.permissions';

export function toUserRecord(row: Row): UserRecord {
  const premiumUntil = row['premium_until'] as Date | number | null;
  return {
    id: row['user_id'] as number,
    disabled: row['user_disabled_at'] !== null,
    // pg reads `infinity` as a number.
    premiumUntil: premiumUntil === null ? null : Number(premiumUntil),
    permissions: row['permissions'] as string[],
  };
}

export function toKeyRecord(row: Row): KeyRecord {
  const application = row['application_id'] === null ? null : toClientRecord(row);
  const user = row['user_id'] === null ? null : toUserRecord(row);
  const own = row['scopes'] === null ? null : openScopes(row['scopes']);
  const id = row['id'] as number;
  const subjects: Subject[] = [`credential:${id}`];
  if (application !== null) subjects.push(`application:${application.id}`, `user:${application.ownerId}`);
  if (user !== null) subjects.push(`user:${user.id}`);
  return {
    id,
    kind: row['kind'] as KeyRecord['kind'],
    name: row['name'] as string,
    scopes: application === null ? (own ?? []) : intersect(own ?? application.allowedScopes, application.allowedScopes),
    expiresAt: (row['expires_at'] as Date | null)?.getTime() ?? null,
    revoked: row['revoked_at'] !== null,
    addresses: new AddressRanges(row['ip_allow'] as string[]),
    application,
    user,
    subjects,
  };
}

export function toTokenRecord(row: Row): TokenRecord {
  const user = toUserRecord(row);
  const grantId = row['grant_id'] as number;
  const applicationId = row['application_id'] as number;
  return {
    grantId,
    applicationId,
    scopes: intersect(openScopes(row['scopes']), openScopes(row['grant_scopes'])),
    expiresAt: (row['expires_at'] as Date).getTime(),
    revoked: row['ended'] === true || user.disabled,
    user,
    subjects: [
      `grant:${grantId}`,
      `application:${applicationId}`,
      `user:${user.id}`,
      `token:${(row['hash'] as Buffer).toString('hex')}`,
    ],
  };
}
