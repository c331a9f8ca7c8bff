import type { AuditActor } from '../chain/audit-entry.js';
import type { AuditTarget } from './audit-target.js';

/** A resource as people know it, nested or not. It still contains credentials, which must not leave this module. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * What the recorder has to know about the calls of a service. An abstract class because it is also the injection token.
 */
export abstract class AuditRules {
  /**
   * The subject of a call that may change something; null for a call that need not be recorded. `path` has its prefix.
   */
  abstract target(method: string, path: string): AuditTarget | null;

  /** The current resource; null if it does not exist or is not watched. It may contain credentials. */
  abstract read(target: Omit<AuditTarget, 'action'>): Promise<Fields | null>;

  /** The user of a successful login. */
  abstract loggedIn(action: string, answer: unknown, request: object): AuditActor | null;

  /** The sender of a request that another guard than ours admitted; null: the one that the guard found. */
  actor(_request: object): AuditActor | null {
    return null;
  }

  /** Whether a field, by its path, is secret; names that look like secrets are always hidden. */
  hides(_path: string): boolean {
    return false;
  }

  /** Whether a field that looks like a secret is not one. */
  shows(_path: string): boolean {
    return false;
  }
}

/** The action of a login. Too many logins are `auth.lockout`. */
export const LOGIN_ACTION = 'auth.login';
