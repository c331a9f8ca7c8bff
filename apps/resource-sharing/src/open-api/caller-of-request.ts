import { AppError } from '@gatehouse/platform';
import type { IncomingHttpHeaders } from 'node:http';
import {
  intersect,
  isPublic,
  type CallingCredential,
  type ClientRecord,
  type KeyRecord,
  type TokenRecord,
  type UserRecord,
} from '../credentials/credential-records.js';
import { apiKeyError, disabledApplication, userTokenError } from './refusals.js';
import type { Caller } from '../credentials/caller.js';

/** The one X-API-Key of a request; undefined without one. */
export function apiKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const text = headers['x-api-key'];
  const key = Array.isArray(text) ? text.join(',') : text?.trim();
  return key === '' ? undefined : key;
}

/** What a request without a key is refused with, unless its token names a public application. */
export function missingKey(): AppError {
  return apiKeyError('MISSING_API_KEY', 'Send the API key in the header X-API-Key');
}

/** RFC 6750 section 2.1. Undefined if there is no bearer token. */
export function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : /^bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1];
}

/** Undefined without Authorization. @throws INVALID_OPENAPI_USER_TOKEN for anything but a bearer token. */
export function userTokenOf(headers: IncomingHttpHeaders): string | undefined {
  if (headers.authorization === undefined || headers.authorization.trim() === '') return undefined;
  const token = bearerOf(headers);
  if (token === undefined) throw userTokenError('INVALID_OPENAPI_USER_TOKEN', 'Authorization must be: Bearer <token>');
  return token;
}

/** @throws INVALID_API_KEY, DISABLED_API_KEY, EXPIRED_API_KEY or IP_NOT_ALLOWED. */
export function assertUsableKey(key: KeyRecord | null, ip: string | undefined): KeyRecord {
  if (key === null) throw apiKeyError('INVALID_API_KEY');
  const holderDisabled = key.kind === 'personal' && key.user?.disabled !== false;
  if (key.revoked || holderDisabled || key.application?.usable === false) throw apiKeyError('DISABLED_API_KEY');
  if (key.expiresAt !== null && key.expiresAt <= Date.now()) throw apiKeyError('EXPIRED_API_KEY');
  if (!key.addresses.allows(ip) || key.application?.addresses.allows(ip) === false) {
    throw new AppError('IP_NOT_ALLOWED');
  }
  return key;
}

/** The key of a public application says nothing about who calls. @throws OPENAPI_USER_REQUIRED */
export function assertProvesCaller({ application }: KeyRecord): void {
  if (application === null || !isPublic(application)) return;
  throw new AppError(
    'OPENAPI_USER_REQUIRED',
    'Everybody who has a public application has its key: send the token of a user',
  );
}

/** @throws DISABLED_API_KEY or IP_NOT_ALLOWED, as with a key of the application. */
export function assertUsableClient(client: ClientRecord, ip: string | undefined): void {
  if (!client.usable) throw disabledApplication();
  if (!client.addresses.allows(ip)) throw new AppError('IP_NOT_ALLOWED');
}

/** A token never falls back to the bound user. @throws the user-token error that shows the client what to do next. */
export function assertUsableToken(token: TokenRecord | null, applicationId: number | undefined): TokenRecord {
  if (token === null || token.applicationId !== applicationId) throw userTokenError('INVALID_OPENAPI_USER_TOKEN');
  // Revoked is checked before expired, because refreshing a revoked token would fail anyway.
  if (token.revoked) throw userTokenError('OPENAPI_REAUTH_REQUIRED');
  if (token.expiresAt <= Date.now()) throw userTokenError('OPENAPI_REFRESH_REQUIRED');
  return token;
}

/** What a public application calls with that sends no key. */
export function toCredential(client: ClientRecord): CallingCredential {
  const { name, allowedScopes: scopes } = client;
  return { id: null, kind: 'application', name, scopes, application: client, user: null };
}

/** The caller, made from records that were found valid. */
export function toCaller(credential: CallingCredential, token: TokenRecord | undefined): Caller {
  const user = token?.user ?? activeUser(credential.user);
  return {
    credentialId: credential.id,
    credentialKind: credential.kind === 'personal' ? 'personal' : 'application',
    isTest: credential.kind === 'test',
    credentialName: credential.name,
    applicationId: credential.application?.id ?? null,
    grantId: token?.grantId ?? null,
    userId: user?.id ?? null,
    scopes: token === undefined ? credential.scopes : intersect(credential.scopes, token.scopes),
    isPremium: user?.premiumUntil != null && user.premiumUntil > Date.now(),
    permissions: user?.permissions ?? [],
    quotaProfile: credential.application?.quotaProfile ?? null,
  };
}

function activeUser(user: UserRecord | null): UserRecord | null {
  return user?.disabled === false ? user : null;
}
