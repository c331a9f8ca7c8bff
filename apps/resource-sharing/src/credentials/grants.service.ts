import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent, type SqlRunner } from '../audit/record-event.js';
import { bigints } from './credential-records.js';
import { grantScopes, type GrantScope } from './grant-scopes.js';
import { rowsOf } from '../data/rows-of.js';
import { Revocations, type Subject } from './revocations.js';

/** Why a grant ended; shown to its user. */
export type RevocationReason =
  | 'user'
  | 'client'
  | 'administrator'
  | 'code_replayed'
  | 'refresh_reused'
  | 'application_disabled'
  | 'password_changed'
  | 'logged_out_everywhere'
  | 'user_disabled';

/** An application that a user has authorized, with all its valid grants. */
export interface AuthorisedApplication {
  readonly clientId: string;
  readonly name: string;
  readonly description: string;
  readonly scopes: readonly GrantScope[];
  readonly grantIds: readonly number[];
  readonly firstGrantedAt: Date;
  readonly lastGrantedAt: Date;
}

/** pg leaves the elements of a bigint[] as text. */
interface AuthorisedApplicationRow extends Omit<AuthorisedApplication, 'scopes' | 'grantIds'> {
  readonly scopes: readonly string[];
  readonly grantIds: readonly (number | string)[];
}

export interface GrantSelection {
  readonly grantId?: number;
  readonly userId?: number;
  readonly applicationId?: number;
}

/** Grants: what users allowed to which application, and how that ends, everywhere within a second. */
@Injectable()
export class Grants {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
  ) {}

  /** The applications that a user has authorized, newest first. Grants that no application has used are left out. */
  async applicationsOf(userId: number): Promise<AuthorisedApplication[]> {
    const rows = await rowsOf<AuthorisedApplicationRow>(
      this.dataSource,
      `SELECT a.client_id AS "clientId", a.name, a.description, array_agg(g.id ORDER BY g.id) AS "grantIds",
         (SELECT array_agg(DISTINCT scope) FROM grants s, unnest(s.scopes) AS scope
          WHERE s.id = ANY (array_agg(g.id))) AS scopes,
         min(g.created_at) AS "firstGrantedAt", max(g.created_at) AS "lastGrantedAt"
       FROM grants g JOIN applications a ON a.id = g.application_id
       WHERE g.user_id = $1 AND g.revoked_at IS NULL AND g.exchanged_at IS NOT NULL
       GROUP BY a.id ORDER BY max(g.created_at) DESC, a.id`,
      [userId],
    );
    return rows.map((row) => ({ ...row, scopes: grantScopes(row.scopes), grantIds: bigints(row.grantIds) }));
  }

  /** Ends one grant of a user. @throws NOT_FOUND if it is not theirs or has ended. */
  async revokeOne(grantId: number, userId: number): Promise<void> {
    const ended = await this.unitOfWork.run((tx) => this.revoke(tx, { grantId, userId }, 'user'));
    if (ended === 0) throw new AppError('NOT_FOUND', `There is no authorization ${grantId}`);
  }

  /** Ends all grants of a user to an application. @throws NOT_FOUND when there is none. */
  async revokeApplication(clientId: string, userId: number): Promise<void> {
    const ended = await this.unitOfWork.run(async (tx) => {
      const named = 'SELECT id FROM applications WHERE client_id = $1';
      const [row] = await rowsOf<{ id: number }>(tx, named, [clientId]);
      return row === undefined ? 0 : this.revoke(tx, { applicationId: row.id, userId }, 'user');
    });
    if (ended === 0) throw new AppError('NOT_FOUND', 'This application is not authorized');
  }

  /**
   * Ends the chosen grants with all their codes and tokens, in the caller's transaction; resolves to their number. For
   * a password change, a logout everywhere or a disabled account: `{ userId }`.
   */
  async revoke(tx: SqlRunner, selection: GrantSelection, reason: RevocationReason): Promise<number> {
    const { grantId, userId, applicationId } = selection;
    if (grantId === undefined && userId === undefined && applicationId === undefined) return 0;
    const rows = await rowsOf<{ id: number; userId: number; applicationId: number }>(
      tx,
      `UPDATE grants SET revoked_at = now(), revoked_reason = $4
       WHERE id IN (
         SELECT id FROM grants
         WHERE ($1::bigint IS NULL OR id = $1) AND ($2::bigint IS NULL OR user_id = $2)
           AND ($3::bigint IS NULL OR application_id = $3) AND revoked_at IS NULL
         ORDER BY id FOR NO KEY UPDATE)
       RETURNING id, user_id AS "userId", application_id AS "applicationId"`,
      [grantId ?? null, userId ?? null, applicationId ?? null, reason],
    );
    for (const { id, ...about } of rows) {
      await recordEvent(tx, { type: 'grant.revoked', ...about, grantId: id, details: { reason } });
    }
    await this.revocations.announce(
      tx,
      rows.map(({ id }): Subject => `grant:${id}`),
    );
    return rows.length;
  }
}
