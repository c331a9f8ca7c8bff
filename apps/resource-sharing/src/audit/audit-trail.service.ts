import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditEventType } from './record-event.js';

/** An event as it was recorded. */
export interface RecordedEvent {
  readonly id: number;
  readonly type: AuditEventType;
  readonly userId: number | null;
  readonly actorId: number | null;
  readonly applicationId: number | null;
  readonly credentialId: number | null;
  readonly grantId: number | null;
  readonly ip: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

export interface EventSelection {
  readonly userId?: number | undefined;
  readonly applicationId?: number | undefined;
  readonly type?: string | undefined;
  /** Events before this one: the last id of the page before. */
  readonly before?: number | undefined;
  /** At most 200. Default: 50. */
  readonly limit?: number | undefined;
}

type Row = Record<string, unknown>;

/** Reads the audit trail, newest first. */
@Injectable()
export class AuditTrail {
  constructor(private readonly dataSource: DataSource) {}

  async list({ userId, applicationId, type, before, limit = 50 }: EventSelection): Promise<RecordedEvent[]> {
    const rows = (await this.dataSource.query(
      `SELECT * FROM audit_events
       WHERE ($1::bigint IS NULL OR user_id = $1) AND ($2::bigint IS NULL OR application_id = $2)
         AND ($3::text IS NULL OR type = $3) AND ($4::bigint IS NULL OR id < $4)
       ORDER BY id DESC LIMIT $5`,
      [userId ?? null, applicationId ?? null, type ?? null, before ?? null, Math.min(Math.max(limit, 1), 200)],
    )) as Row[];
    return rows.map(toRecordedEvent);
  }
}

function toRecordedEvent(row: Row): RecordedEvent {
  return {
    id: row['id'] as number,
    type: row['type'] as AuditEventType,
    userId: row['user_id'] as number | null,
    actorId: row['actor_id'] as number | null,
    applicationId: row['application_id'] as number | null,
    credentialId: row['credential_id'] as number | null,
    grantId: row['grant_id'] as number | null,
    ip: row['ip'] as string | null,
    details: row['details'] as RecordedEvent['details'],
    createdAt: row['created_at'] as Date,
  };
}
