import { AppError } from '@gatehouse/platform';
import type { IncomingHttpHeaders } from 'node:http';
import { intersect, type KeyRecord, type TokenRecord, type UserRecord } from '../credentials/credential-records.js';
import { apiKeyError, userTokenError } from './refusals.js';
import type { Caller } from '../credentials/caller.js';

/** The one X-API-Key of a request. @throws MISSING_API_KEY */
export function apiKeyOf(headers: IncomingHttpHeaders): string {
  const text = headers['x-api-key'];
  const key = Array.isArray(text) ? text.join(',') : text?.trim();
  if (key === undefined || key === '') throw apiKeyError('MISSING_API_KEY', 'Send the API key in the header X-API-Key');
  return key;
}

/** RFC 6750 section 2.1. Undefined without Authorization. @throws INVALID_OPENAPI_USER_TOKEN for anything but a bearer token. */
export function userTokenOf({ authorization }: IncomingHttpHeaders): string | undefined {
  if (authorization === undefined || authorization.trim() === '') return undefined;
  const token = /^bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1];
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

/** A token never falls back to the bound user. @throws the user-token error that shows the client what to do next. */
export function assertUsableToken(token: TokenRecord | null, key: KeyRecord): TokenRecord {
  if (token === null || token.applicationId !== key.application?.id) throw userTokenError('INVALID_OPENAPI_USER_TOKEN');
  // Revoked is checked before expired, because refreshing a revoked token would fail anyway.
  if (token.revoked) throw userTokenError('OPENAPI_REAUTH_REQUIRED');
  if (token.expiresAt <= Date.now()) throw userTokenError('OPENAPI_REFRESH_REQUIRED');
  return token;
}

/** The caller, made from records that were found valid. */
export function toCaller(key: KeyRecord, token: TokenRecord | undefined): Caller {
  const user = token?.user ?? activeUser(key.user);
  return {
    credentialId: key.id,
    credentialKind: key.kind,
    credentialName: key.name,
    applicationId: key.application?.id ?? null,
    grantId: token?.grantId ?? null,
    userId: user?.id ?? null,
    scopes: token === undefined ? key.scopes : intersect(key.scopes, token.scopes),
    isPremium: user?.premiumUntil != null && user.premiumUntil > Date.now(),
    permissions: user?.permissions ?? [],
    quotaProfile: key.application?.quotaProfile ?? null,
  };
}

function activeUser(user: UserRecord | null): UserRecord | null {
  return user?.disabled === false ? user : null;
}
