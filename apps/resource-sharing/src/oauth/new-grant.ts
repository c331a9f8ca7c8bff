import type { EntityManager } from 'typeorm';
import type { Application } from '../applications/application-rows.js';
import { recordEvent } from '../audit/record-event.js';
import type { GrantScope } from '../credentials/grant-scopes.js';
import { oneRow } from '../data/rows-of.js';
import { OAuthError } from './oauth-error.js';

export interface NewGrant {
  readonly userId: number;
  readonly applicationId: number;
  readonly scopes: readonly GrantScope[];
  /** The login of the user, whose time becomes `auth_time`. */
  readonly sessionId?: number | null | undefined;
  readonly ip?: string | undefined;
}

/** What a user allowed an application; resolves to its id. A code of the same transaction leads to it. */
export async function createGrant(
  tx: EntityManager,
  { userId, applicationId, scopes, sessionId, ip }: NewGrant,
): Promise<number> {
  const { former } = await oneRow<{ former: string[] | null }>(
    tx,
    `SELECT array_agg(DISTINCT scope) AS former FROM grants g, unnest(g.scopes) AS scope
     WHERE g.user_id = $1 AND g.application_id = $2 AND g.revoked_at IS NULL AND g.exchanged_at IS NOT NULL`,
    [userId, applicationId],
  );
  const { id: grantId } = await oneRow<{ id: number }>(
    tx,
    `INSERT INTO grants (user_id, application_id, scopes, auth_time)
     VALUES ($1, $2, $3, (SELECT created_at FROM sessions WHERE id = $4 AND user_id = $1)) RETURNING id`,
    [userId, applicationId, scopes, sessionId ?? null],
  );
  await recordEvent(tx, { type: 'grant.created', userId, applicationId, grantId, ip, details: { scopes, former } });
  return grantId;
}

/** Until it is reviewed, an application serves its owner and up to five test users. @throws access_denied */
export function assertServes({ authLevel, ownerId, testUserIds }: Application, userId: number): void {
  if (authLevel !== 'unverified' || ownerId === userId || testUserIds.includes(userId)) return;
  throw new OAuthError('access_denied', 'This application is not reviewed yet: it serves its test users only');
}
