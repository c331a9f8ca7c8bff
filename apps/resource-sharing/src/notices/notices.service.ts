import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { oneRow, rowsOf } from '../data/rows-of.js';
import { NOTICE_SELECT, type Notice } from './notice-rows.js';

export type { Notice } from './notice-rows.js';

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

const LIST = `${NOTICE_SELECT}
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
