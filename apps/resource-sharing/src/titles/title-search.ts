import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MediaType } from './titles.js';

/** A title that has shares. */
export interface FoundTitle {
  readonly mediaType: MediaType;
  readonly tmdbId: string;
  /** The name of the newest share if the title's own is not known; null without either. */
  readonly name: string | null;
  readonly shares: number;
  /** In points, 0 for free. */
  readonly lowestPrice: number;
}

export interface TitlePage {
  readonly titles: FoundTitle[];
  readonly hasMore: boolean;
}

interface TitleRow {
  media_type: MediaType;
  tmdb_id: string;
  name: string | null;
  shares: number;
  lowest_price: number;
}

/** Number of newest rows that are searched, so that a search for one letter costs no more than another. */
const MOST = 1_000;
const MAX_SEARCH_LENGTH = 100;

// $1: how many, $2: after how many.
const pageOf = (found: string): string => `
  SELECT t.media_type, t.tmdb_id, coalesce(t.title, newest.title) AS name, newest.shares, newest.lowest_price
  FROM (${found}) found JOIN titles t ON t.id = found.id
  CROSS JOIN LATERAL (
    SELECT count(*) AS shares, max(s.id) AS newest_id, (array_agg(s.title ORDER BY s.id DESC))[1] AS title,
      min(share_price(s.unlock_points, s.held_points, s.held_until)) AS lowest_price
    FROM shares s WHERE (s.movie_id = t.id OR s.tv_id = t.id OR s.collection_id = t.id) AND s.deleted_at IS NULL
  ) newest
  WHERE newest.shares > 0 ORDER BY found.rank, newest.newest_id DESC LIMIT $1 OFFSET $2`;

const TITLE_OF_SHARE = 'coalesce(s.movie_id, s.tv_id, s.collection_id)';
const NEWEST = pageOf(`
  SELECT DISTINCT ${TITLE_OF_SHARE} AS id, 1 AS rank FROM (
    SELECT * FROM shares WHERE deleted_at IS NULL ORDER BY id DESC LIMIT ${MOST}
  ) s`);
// The TMDB id first, then names.
const SEARCH = pageOf(`
  SELECT id, min(rank) AS rank FROM (
    SELECT id, 0 AS rank FROM titles WHERE tmdb_id = $3
    UNION ALL (SELECT id, 1 FROM titles WHERE title ILIKE $4 ORDER BY id DESC LIMIT ${MOST})
    UNION ALL (SELECT ${TITLE_OF_SHARE}, 1 FROM shares s WHERE s.deleted_at IS NULL AND s.title ILIKE $4
      ORDER BY s.id DESC LIMIT ${MOST})
  ) either GROUP BY id`);

/** Finds titles that have shares. */
@Injectable()
export class TitleSearch {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * By a part of the name, in any letter case, or by the whole TMDB id; without a text, the titles of the newest
   * shares.
   */
  async find(text: string, page: number, pageSize: number): Promise<TitlePage> {
    const wanted = text.trim().slice(0, MAX_SEARCH_LENGTH);
    const range = [pageSize + 1, (page - 1) * pageSize];
    const { rows } = await pgPool(this.dataSource).query<TitleRow>(
      wanted === ''
        ? { name: 'titles_newest', text: NEWEST, values: range }
        : { name: 'titles_search', text: SEARCH, values: [...range, wanted, `%${literally(wanted)}%`] },
    );
    const titles = rows.slice(0, pageSize).map(toTitle);
    return { titles, hasMore: rows.length > pageSize };
  }
}

function toTitle({
  media_type: mediaType,
  tmdb_id: tmdbId,
  name,
  shares,
  lowest_price: lowestPrice,
}: TitleRow): FoundTitle {
  return { mediaType, tmdbId, name, shares, lowestPrice };
}

/** A text inside a LIKE pattern. */
export function literally(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
