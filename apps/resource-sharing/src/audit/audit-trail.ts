import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';

/** An event with the names of its users and applications, if they still exist. */
export interface AuditEntry {
  readonly id: number;
  readonly type: string;
  readonly userId: number | null;
  readonly user: string | null;
  readonly actorId: number | null;
  readonly actor: string | null;
  readonly applicationId: number | null;
  readonly application: string | null;
  readonly credentialId: number | null;
  readonly grantId: number | null;
  readonly ip: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

export interface AuditSelection {
  /** A type, or the prefix of several: `app.` */
  readonly type?: string | undefined;
  readonly userId?: number | undefined;
  readonly applicationId?: number | undefined;
  /** Id of the last event that was read. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The append-only trail, newest first. */
@Injectable()
export class AuditTrail {
  constructor(private readonly dataSource: DataSource) {}

  async list({ type, userId, applicationId, before, limit }: AuditSelection): Promise<AuditEntry[]> {
    return rowsOf<AuditEntry>(
      this.dataSource,
      `SELECT e.id, e.type, e.user_id AS "userId", u.username AS "user", e.actor_id AS "actorId", c.username AS actor,
         e.application_id AS "applicationId", a.name AS application, e.credential_id AS "credentialId",
         e.grant_id AS "grantId", e.ip, e.details, e.created_at AS at
       FROM audit_events e
       LEFT JOIN site_accounts u ON u.id = e.user_id LEFT JOIN site_accounts c ON c.id = e.actor_id
       LEFT JOIN applications a ON a.id = e.application_id
       WHERE ($1::text IS NULL OR e.type LIKE $1) AND ($2::bigint IS NULL OR e.user_id = $2)
         AND ($3::bigint IS NULL OR e.application_id = $3) AND ($4::bigint IS NULL OR e.id < $4)
       ORDER BY e.id DESC LIMIT $5`,
      [
        type === undefined ? null : `${type.replaceAll(/[\\%_]/g, '\\$&')}%`,
        userId ?? null,
        applicationId ?? null,
        before ?? null,
        limit,
      ],
    );
  }
}
