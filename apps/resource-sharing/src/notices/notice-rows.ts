import type { DataSource, EntityManager } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';

/** An event that its user should know of, with the names of what it is about, as far as that is still there. */
export interface Notice {
  /** Id of the event. */
  readonly id: number;
  readonly type: string;
  readonly at: Date;
  /** Null: not read yet. */
  readonly readAt: Date | null;
  readonly ip: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly application: string | null;
  readonly clientId: string | null;
  /** Name of an API key or secret. */
  readonly credential: string | null;
  readonly share: string | null;
}

/** Notices with the names of what they are about; a condition follows. */
export const NOTICE_SELECT = `
  SELECT e.id, e.type, e.created_at AS at, n.read_at AS "readAt", e.ip, e.details, a.name AS application,
    a.client_id AS "clientId", c.name AS credential, coalesce(s.title, t.title) AS share
  FROM notices n JOIN audit_events e ON e.id = n.event_id
  LEFT JOIN applications a ON a.id = e.application_id LEFT JOIN credentials c ON c.id = e.credential_id
  LEFT JOIN shares s ON s.id = CASE WHEN e.type LIKE 'share.%' THEN (e.details ->> 'share_id')::bigint END
  LEFT JOIN titles t ON t.id = coalesce(s.movie_id, s.tv_id, s.collection_id)`;

/** For a mail about it, whoever its user is. */
export async function noticeOfEvent(runner: DataSource | EntityManager, eventId: number): Promise<Notice | undefined> {
  const [notice] = await rowsOf<Notice>(runner, `${NOTICE_SELECT} WHERE n.event_id = $1`, [eventId]);
  return notice;
}
