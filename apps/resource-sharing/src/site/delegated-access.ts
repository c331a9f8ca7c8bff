import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { Grants, type RevocationReason } from '../credentials/grants.service.js';
import { Revocations, type Subject } from '../credentials/revocations.js';
import { rowsOf } from '../data/rows-of.js';

/** Everything that acts for a user besides their sessions. */
@Injectable()
export class DelegatedAccess {
  constructor(
    private readonly grants: Grants,
    private readonly revocations: Revocations,
  ) {}

  /**
   * Revokes every authorization and, with `keys`, everything that needs none. Must be the last statements of a
   * transaction.
   */
  async end(tx: EntityManager, userId: number, reason: RevocationReason, { keys }: { keys: boolean }): Promise<void> {
    const ended = keys ? await endOwnCredentials(tx, userId, reason) : [];
    await this.grants.revoke(tx, { userId }, reason);
    if (ended.length > 0) await this.revocations.announce(tx, ended);
  }
}

/**
 * Revokes what acts for a user without a grant: personal keys, and the right of their applications to act for them
 * without a user token. Resolves to what has to be announced.
 */
async function endOwnCredentials(tx: EntityManager, userId: number, reason: RevocationReason): Promise<Subject[]> {
  const keys = await rowsOf<{ id: number }>(
    tx,
    'UPDATE credentials SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL RETURNING id',
    [userId],
  );
  const bound = await rowsOf<{ id: number }>(
    tx,
    'UPDATE applications SET bound_user_id = NULL, updated_at = now() WHERE bound_user_id = $1 RETURNING id',
    [userId],
  );
  const details = { reason };
  for (const { id } of keys) await recordEvent(tx, { type: 'key.revoked', userId, credentialId: id, details });
  for (const { id } of bound) await recordEvent(tx, { type: 'app.unbound', userId, applicationId: id, details });
  return [...keys.map(({ id }): Subject => `credential:${id}`), ...bound.map(({ id }): Subject => `application:${id}`)];
}
