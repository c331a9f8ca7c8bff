import type { ShareLinkKind } from '@gatehouse/share-links';
import type { MediaType } from '../titles/titles.js';

/** A share as one row of SQL, for one viewer. */
export interface ShareRow {
  id: number;
  slug: string;
  owner_id: number;
  nickname: string;
  avatar_url: string | null;
  title: string | null;
  kind: ShareLinkKind;
  url: string;
  access_code: string;
  share_size: string | null;
  video_resolution: string[];
  source: string[];
  subtitle_language: string[];
  subtitle_type: string[];
  remark: string | null;
  unlock_points: number | null;
  /** The current price, 0 for free: the lower price for a while after it was raised. */
  price: number;
  is_anonymous: boolean;
  is_official: boolean;
  validate_status: string | null;
  validate_message: string | null;
  last_validated_at: string | null;
  created_at: string;
  /** The same value as a time. */
  shared_at: Date;
  unlocked_users_count: number;
  click_count: number;
  is_own: boolean;
  has_unlocked: boolean;
  media_id: number;
  media_type: MediaType;
  tmdb_id: string;
  media_title: string | null;
}

const time = (column: string): string =>
  `to_char(${column} AT TIME ZONE $2, 'YYYY-MM-DD HH24:MI:SS') AS ${column.slice(column.indexOf('.') + 1)}`;

/**
 * Shares for one viewer: $1 (null for none), $2 the time zone. `chosen` selects the few wanted rows of the table.
 * Related rows are looked up row by row: the limits prevent the planner from reading whole tables for them.
 */
export const selectShares = (chosen: string): string => `
  SELECT s.id, replace(s.slug::text, '-', '') AS slug, s.owner_id, o.nickname, o.avatar_url, s.title, s.kind, s.url,
    s.access_code, s.share_size, s.video_resolution, s.source, s.subtitle_language, s.subtitle_type, s.remark,
    s.unlock_points, share_price(s.unlock_points, s.held_points, s.held_until) AS price, s.is_anonymous, s.is_official, s.validate_status, s.validate_message,
    ${time('s.last_validated_at')}, ${time('s.created_at')}, s.created_at AS shared_at,
    coalesce(c.unlocked_users_count, 0) AS unlocked_users_count, coalesce(c.click_count, 0) AS click_count,
    s.owner_id IS NOT DISTINCT FROM $1::bigint AS is_own, u.share_id IS NOT NULL AS has_unlocked,
    t.id AS media_id, t.media_type, t.tmdb_id, t.title AS media_title
  FROM (${chosen}) AS s
  JOIN LATERAL (SELECT nickname, avatar_url FROM site_accounts WHERE id = s.owner_id LIMIT 1) AS o ON true
  JOIN LATERAL (
    SELECT id, media_type, tmdb_id, title FROM titles WHERE id = coalesce(s.movie_id, s.tv_id, s.collection_id) LIMIT 1
  ) AS t ON true
  LEFT JOIN LATERAL (
    SELECT unlocked_users_count, click_count FROM share_counters WHERE share_id = s.id LIMIT 1
  ) AS c ON true
  LEFT JOIN LATERAL (
    SELECT share_id FROM unlocks WHERE user_id = $1::bigint AND share_id = s.id LIMIT 1
  ) AS u ON true`;
