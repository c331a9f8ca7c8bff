import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Application } from '../../applications/application-rows.js';
import { oneRow } from '../../data/rows-of.js';
import type { GrantScope } from '../../credentials/grant-scopes.js';

/** Authorizations without a question for one user and application within an hour, before the user is asked again. */
const MAX_UNASKED = 10;

/** Decides whether a user has to be asked, or has answered before. */
@Injectable()
export class ConsentMemory {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * True if a valid authorization has these scopes and the application is a reviewed one that can keep a secret: any
   * program can pretend to be a public one (RFC 9700 section 4.15, RFC 8252 section 8.6).
   */
  async covers(userId: number, application: Application, scopes: readonly GrantScope[]): Promise<boolean> {
    if (application.kind !== 'confidential' || application.authLevel === 'unverified') return false;
    const { covered } = await oneRow<{ covered: boolean }>(
      this.dataSource,
      `SELECT EXISTS (
         SELECT FROM grants g JOIN refresh_tokens r ON r.grant_id = g.id
         WHERE g.user_id = $1 AND g.application_id = $2 AND g.revoked_at IS NULL AND g.scopes @> $3
           AND r.consumed_at IS NULL AND r.idle_expires_at > now() AND r.absolute_expires_at > now()
       ) AND (
         SELECT count(*) < $4 FROM grants
         WHERE user_id = $1 AND application_id = $2 AND created_at > now() - interval '1 hour'
       ) AS covered`,
      [userId, application.id, scopes, MAX_UNASKED],
    );
    return covered;
  }
}
