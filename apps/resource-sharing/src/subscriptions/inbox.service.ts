import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ResourceSharingSettings } from '../settings.js';
import type { MediaType } from '../titles/titles.js';

export type MessageEvent = 'share.created' | 'share.updated';

/** A message about a share of a title that the user subscribed to. */
export interface Message {
  readonly id: number;
  readonly event_type: MessageEvent;
  readonly slug: string;
  readonly share_title: string | null;
  readonly media_id: number;
  readonly media_type: MediaType;
  readonly tmdb_id: string;
  readonly media_title: string | null;
  readonly is_read: boolean;
  /** `YYYY-MM-DD HH:mm:ss` in the zone of the service. */
  readonly created_at: string;
}

export interface MessagePage {
  readonly rows: Message[];
  readonly total: number;
}

/** Of a message whose share was withdrawn there is nothing to see. */
const LIVE = `messages m JOIN shares s ON s.id = m.share_id AND s.deleted_at IS NULL`;
const LIST = `SELECT m.id, m.event_type, replace(s.slug::text, '-', '') AS slug, s.title AS share_title, t.id AS media_id,
    t.media_type, t.tmdb_id, t.title AS media_title, m.read_at IS NOT NULL AS is_read,
    to_char(m.created_at AT TIME ZONE $2, 'YYYY-MM-DD HH24:MI:SS') AS created_at
  FROM ${LIVE} JOIN titles t ON t.id = coalesce(s.movie_id, s.tv_id, s.collection_id)
  WHERE m.user_id = $1 AND ($3::boolean IS NULL OR (m.read_at IS NOT NULL) = $3) ORDER BY m.id DESC LIMIT $4 OFFSET $5`;
const COUNT = `SELECT count(*)::integer AS total FROM ${LIVE}
  WHERE m.user_id = $1 AND ($2::boolean IS NULL OR (m.read_at IS NOT NULL) = $2)`;

/** Messages of one user. Every method sees those of `userId` alone. */
@Injectable()
export class Inbox {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** Newest first; `read`: only those that were read, or were not. */
  async list(userId: number, read: boolean | null, page: number, pageSize: number): Promise<MessagePage> {
    const values = [userId, this.settings.timeZone, read, pageSize, (page - 1) * pageSize];
    const { rows } = await pgPool(this.dataSource).query<Message>({ name: 'messages', text: LIST, values });
    return { rows, total: await this.count(userId, read) };
  }

  unread(userId: number): Promise<number> {
    return this.count(userId, false);
  }

  /** Ids of others' messages, and of those that are gone, change nothing. */
  async markRead(userId: number, ids: readonly number[]): Promise<void> {
    await pgPool(this.dataSource).query({
      name: 'read_messages',
      text: 'UPDATE messages SET read_at = now() WHERE user_id = $1 AND id = ANY ($2::bigint[]) AND read_at IS NULL',
      values: [userId, ids],
    });
  }

  async markAllRead(userId: number): Promise<void> {
    await pgPool(this.dataSource).query({
      name: 'read_all_messages',
      text: 'UPDATE messages SET read_at = now() WHERE user_id = $1 AND read_at IS NULL',
      values: [userId],
    });
  }

  private async count(userId: number, read: boolean | null): Promise<number> {
    const { rows } = await pgPool(this.dataSource).query<{ total: number }>({
      name: 'message_count',
      text: COUNT,
      values: [userId, read],
    });
    return rows[0]?.total ?? 0;
  }
}
