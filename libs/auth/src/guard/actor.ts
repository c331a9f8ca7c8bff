import { AppError } from '@gatehouse/platform';

export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export type CredentialKind = 'token' | 'api_key' | 'session' | 'none';

/** Who acts. Passed on as an argument; never looked up from ambient state. */
export interface Actor {
  /** The kind of credential. */
  readonly credential: CredentialKind;
  /** Id of the API key or session; null if there is no row. */
  readonly credentialId: number | null;
  /** The user, if the service has users. */
  readonly userId: number | null;
  /** For people and logs: user name, or name of the API key. */
  readonly name: string;
  /** Owner of the API key, if keys belong to users. */
  readonly userName?: string;
  /** The service's own role of the user, if it has roles. */
  readonly role: string | null;
  readonly scopes: readonly Scope[];
}

/** The actor of work without a request: jobs, migrations, the first start. */
export const SYSTEM_ACTOR: Actor = Object.freeze({
  credential: 'none',
  credentialId: null,
  userId: null,
  name: 'system',
  role: null,
  scopes: SCOPES,
});

/**
 * For operations that create, delete or change credentials. A service whose login is switched off has no logins, so its
 * `none` passes.
 * @throws AppError FORBIDDEN for API keys
 */
export function refuseApiKeys({ credential }: Pick<Actor, 'credential'>): void {
  if (credential === 'session' || credential === 'token' || credential === 'none') return;
  throw new AppError('FORBIDDEN', 'This needs a login; API keys are not accepted');
}

/**
 * The user of a login. API keys act for their user except in matters of credentials: a leaked key cannot create other
 * keys and cannot end logins.
 * @throws AppError FORBIDDEN
 */
export function requireLogin(actor: Actor): number {
  refuseApiKeys(actor);
  if (actor.credential === 'session' && actor.userId !== null) return actor.userId;
  throw new AppError('FORBIDDEN', 'This needs the login of a user');
}

/** admin allows everything, write includes read. */
export function allows(actor: Pick<Actor, 'scopes'>, needed: Scope): boolean {
  const needs = SCOPES.indexOf(needed);
  return actor.scopes.some((scope) => SCOPES.indexOf(scope) >= needs);
}
