import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { oneRow, rowsOf } from '../data/rows-of.js';

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

export interface NoticeSelection {
  readonly unreadOnly?: boolean | undefined;
  /** Id of the last notice that was read. */
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

export interface NoticePage {
  readonly notices: Notice[];
  /** `before` of the page after this one; null at the end. */
  readonly next: number | null;
}

/** Above it, "more than that" is said. */
export const MAX_UNREAD = 99;

const LIST = `
  SELECT e.id, e.type, e.created_at AS at, n.read_at AS "readAt", e.ip, e.details, a.name AS application,
    a.client_id AS "clientId", c.name AS credential, coalesce(s.title, t.title) AS share
  FROM notices n JOIN audit_events e ON e.id = n.event_id
  LEFT JOIN applications a ON a.id = e.application_id LEFT JOIN credentials c ON c.id = e.credential_id
  LEFT JOIN shares s ON s.id = CASE WHEN e.type LIKE 'share.%' THEN (e.details ->> 'share_id')::bigint END
  LEFT JOIN titles t ON t.id = coalesce(s.movie_id, s.tv_id, s.collection_id)
  WHERE n.user_id = $1 AND ($2::bigint IS NULL OR n.event_id < $2) AND (NOT $3 OR n.read_at IS NULL)
  ORDER BY n.event_id DESC LIMIT $4`;

/** Notices of one user. Every method sees those of `userId` alone. */
@Injectable()
export class Notices {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first. */
  async list(userId: number, { unreadOnly = false, before, limit = 50 }: NoticeSelection = {}): Promise<NoticePage> {
    const rows = await rowsOf<Notice>(this.dataSource, LIST, [userId, before ?? null, unreadOnly, limit + 1]);
    const notices = rows.slice(0, limit);
    return { notices, next: rows.length > limit ? (notices.at(-1)?.id ?? null) : null };
  }

  /** How many are unread; MAX_UNREAD + 1 stands for more than MAX_UNREAD. */
  async unread(userId: number): Promise<number> {
    const { n } = await oneRow<{ n: number }>(
      this.dataSource,
      `SELECT count(*)::integer AS n FROM (SELECT FROM notices WHERE user_id = $1 AND read_at IS NULL LIMIT $2) first`,
      [userId, MAX_UNREAD + 1],
    );
    return n;
  }

  /** Does nothing to one that was read before. @throws NOT_FOUND for another user's, so that ids reveal nothing. */
  async markRead(userId: number, id: number): Promise<void> {
    const rows = await rowsOf(
      this.dataSource,
      'UPDATE notices SET read_at = coalesce(read_at, now()) WHERE event_id = $2 AND user_id = $1 RETURNING event_id',
      [userId, id],
    );
    if (rows.length === 0) throw new AppError('NOT_FOUND', `There is no notice ${id}`);
  }

  /** `upTo`: the newest that the user has seen, so that one that came later stays unread. */
  async markAllRead(userId: number, upTo?: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE notices SET read_at = now() WHERE user_id = $1 AND read_at IS NULL AND ($2::bigint IS NULL OR event_id <= $2)`,
      [userId, upTo ?? null],
    );
  }
}
