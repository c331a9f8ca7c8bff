import type { AuditActor } from '../chain/audit-entry.js';
import type { AuditTarget } from './audit-target.js';

/** A resource as people know it, nested or not. Credentials are still in it: what leaves here does not hold them. */
export type Fields = Readonly<Record<string, unknown>>;

/** What the recorder has to know about the calls of a service. An abstract class because it is also the injection token. */
export abstract class AuditRules {
  /** What a call is about that may change something; null for what need not be written down. `path` has its prefix. */
  abstract target(method: string, path: string): AuditTarget | null;

  /** The resource as it is now; null for what does not exist, or is not watched. Credentials may be in it. */
  abstract read(target: Omit<AuditTarget, 'action'>): Promise<Fields | null>;

  /** Who logged in by a call that succeeded, where it was a login. */
  abstract loggedIn(action: string, answer: unknown, request: object): AuditActor | null;

  /** Who sent a request that another guard than ours let in; null: whom the guard found. */
  actor(_request: object): AuditActor | null {
    return null;
  }

  /** Whether a field, by its path, holds what nobody may read in the log; names that look like secrets are hidden anyway. */
  hides(_path: string): boolean {
    return false;
  }

  /** Whether a field that looks like a secret is none. */
  shows(_path: string): boolean {
    return false;
  }
}

/** The action of a login. Too many of them are `auth.lockout`. */
export const LOGIN_ACTION = 'auth.login';
