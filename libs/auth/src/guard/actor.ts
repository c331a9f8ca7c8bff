import { AppError } from '@gatehouse/platform';

export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export type CredentialKind = 'token' | 'api_key' | 'session' | 'none';

/** Who acts. Handed on as an argument; never looked up from ambient state. */
export interface Actor {
  /** What proved it. */
  readonly credential: CredentialKind;
  /** Id of the API key or session; null where there is no row. */
  readonly credentialId: number | null;
  /** The person, where the service has users. */
  readonly userId: number | null;
  /** For people and logs: user name, or name of the API key. */
  readonly name: string;
  /** Whose API key it is, where keys belong to users. */
  readonly userName?: string;
  /** The service's own role of the user, where it has roles. */
  readonly role: string | null;
  readonly scopes: readonly Scope[];
}

/** What runs without a request: jobs, migrations, the first start. */
export const SYSTEM_ACTOR: Actor = Object.freeze({
  credential: 'none',
  credentialId: null,
  userId: null,
  name: 'system',
  role: null,
  scopes: SCOPES,
});

/**
 * For what hands out, takes away or changes credentials. A service whose login is switched off has no logins to ask for:
 * its `none` passes.
 * @throws AppError FORBIDDEN for API keys
 */
export function refuseApiKeys({ credential }: Pick<Actor, 'credential'>): void {
  if (credential === 'session' || credential === 'token' || credential === 'none') return;
  throw new AppError('FORBIDDEN', 'This needs a login; API keys are not accepted');
}

/**
 * The user of a login. API keys act for their user in everything but credentials: a key that leaks makes no other keys and
 * ends no logins.
 * @throws AppError FORBIDDEN
 */
export function requireLogin(actor: Actor): number {
  refuseApiKeys(actor);
  if (actor.credential === 'session' && actor.userId !== null) return actor.userId;
  throw new AppError('FORBIDDEN', 'This needs the login of a user');
}

/** admin allows all, write also allows read. */
export function allows(actor: Pick<Actor, 'scopes'>, needed: Scope): boolean {
  const needs = SCOPES.indexOf(needed);
  return actor.scopes.some((scope) => SCOPES.indexOf(scope) >= needs);
}
