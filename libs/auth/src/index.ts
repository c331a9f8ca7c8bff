export { AuthModule, type AuthModuleOptions, type SessionOptions } from './auth.module.js';
export { BoundedCache } from './cache/bounded-cache.js';
export {
  DEVICE_CODE_SECONDS,
  deviceRefusal,
  SLOWER_SECONDS,
  type DeviceProgress,
  type DeviceRefusal,
} from './device-flow/device-progress.js';
export { createUserCode, parseUserCode } from './device-flow/user-code.js';
export { UserCodeTries } from './device-flow/user-code-tries.js';
export {
  allows,
  refuseApiKeys,
  requireLogin,
  SCOPES,
  SYSTEM_ACTOR,
  type Actor,
  type CredentialKind,
  type Scope,
} from './guard/actor.js';
export { AuthGuard } from './guard/auth.guard.js';
export { Authenticator, AuthPolicy } from './guard/authenticator.js';
export { CookieOnly, CurrentActor, isPublicRoute, Public, Requires, RequiresLogin } from './guard/decorators.js';
export { KnownUsers, type SessionUser, SessionUsers } from './guard/known-users.js';
export { actorOf } from './guard/request-actor.js';
export { SameOriginGuard } from './guard/same-origin.js';
export { IdempotencyModule } from './idempotency/idempotency.module.js';
export { IdempotencyStore, keepAnswer, type Claim, type KeyedRequest } from './idempotency/idempotency-store.js';
export {
  addIdempotencyClaims,
  createIdempotencyTable,
  dropIdempotencyClaims,
} from './idempotency/idempotency-table.js';
export { createApiKey, parseApiKey, type ParsedApiKey } from './keys/api-key.js';
export {
  ApiKeyStore,
  type ApiKeyIdentity,
  type ApiKeyRecord,
  type ApiKeyStoreConfig,
  type NewApiKey,
} from './keys/api-key-store.js';
export { readKeyExpiry } from './keys/key-expiry.js';
export { LastUseWriter } from './keys/last-use-writer.js';
export {
  createFirstAdministrator,
  FIRST_ADMINISTRATOR,
  type FirstAdministratorOptions,
  type FirstAdministratorPolicy,
} from './login/first-administrator.js';
export { DEFAULT_LOGIN_LIMITS, LoginThrottle, type LoginThrottleLimits } from './login/login-throttle.js';
export { PasswordChecks, type GivenPassword, type LoginAccount, type PasswordPolicy } from './login/password-checks.js';
export { KeptPreferences } from './preferences/kept-preferences.js';
export { hashPassword, makeHashesCheap, verifyPassword } from './passwords/password-hash.js';
export {
  SecondFactors,
  type FactorChange,
  type FactorOutcome,
  type FactorState,
  type SecondFactorPolicy,
} from './second-factor/second-factors.js';
export { SessionCookie } from './sessions/session-cookie.js';
export { SessionLogins, type OpenedSession, type SessionPolicy } from './sessions/session-logins.js';
export { SessionStore, type Session, type SessionStoreConfig } from './sessions/session-store.js';
export { createAuthTables, dropAuthTables, type AuthTablesOptions, type SqlRunner } from './tables/auth-tables.js';
export { createSecondFactorTables, dropSecondFactorTables } from './tables/second-factor-tables.js';
export { createTotpSecret, matchingTotpStep, totpCode, totpUri } from './totp/totp.js';
export { base32, parseBase32 } from './totp/base32.js';
export type { LastUseTable } from './keys/last-use-writer.js';
export { JwtStrategy, type TokenClaims } from './tokens/jwt-strategy.js';
export { TokenSigner, type TokenSignerConfig, type TokenSubject } from './tokens/token-signer.js';
export { sealedColumns, secondFactorColumn } from './sealed-columns.js';
