import { pgPool } from '@gatehouse/persistence';
import { formatFullUrl } from '@gatehouse/share-links';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ShareReader } from '../shares/share-reader.js';
import type { ShareRow } from '../shares/share-rows.js';
import { literally } from '../titles/title-search.js';
import type { UnlockOutcome } from './unlocks.service.js';

/** A share that a user unlocked. */
export interface PastUnlock {
  readonly share: ShareRow;
  /** The link with its access code. */
  readonly fullUrl: string;
  readonly via: Exclude<UnlockOutcome, 'own' | 'owned' | 'free_again'>;
  /** The price that was paid. */
  readonly points: number;
  /** The application that unlocked it; null on the site, with a personal key, or for a deleted application. */
  readonly application: string | null;
  readonly at: Date;
}

export interface UnlockPage {
  readonly unlocks: PastUnlock[];
  readonly hasMore: boolean;
}

interface UnlockRow {
  share_id: number;
  via: PastUnlock['via'];
  points: number;
  application: string | null;
  created_at: Date;
}

const MAX_SEARCH_LENGTH = 100;

const HISTORY = `
  SELECT u.share_id, u.via, u.points, a.name AS application, u.created_at
  FROM unlocks u JOIN shares s ON s.id = u.share_id
  JOIN titles t ON t.id = coalesce(s.movie_id, s.tv_id, s.collection_id)
  LEFT JOIN applications a ON a.id = u.application_id
  WHERE u.user_id = $1 AND ($4 = '' OR s.title ILIKE $5 OR t.title ILIKE $5 OR t.tmdb_id = $4)
  ORDER BY u.created_at DESC, u.share_id DESC LIMIT $2 OFFSET $3`;

/** The shares that users have unlocked, so that they can find them again. */
@Injectable()
export class UnlockHistory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly shares: ShareReader,
  ) {}

  /** Newest first; `search`: a part of the name, or the TMDB id of the title. */
  async of(
    userId: number,
    { search = '', page = 1, pageSize = 20 }: { search?: string; page?: number; pageSize?: number },
  ): Promise<UnlockPage> {
    const wanted = search.trim().slice(0, MAX_SEARCH_LENGTH);
    const { rows } = await pgPool(this.dataSource).query<UnlockRow>({
      name: 'unlock_history',
      text: HISTORY,
      values: [userId, pageSize + 1, (page - 1) * pageSize, wanted, `%${literally(wanted)}%`],
    });
    const kept = rows.slice(0, pageSize);
    const found = await this.shares.byIds(
      kept.map((row) => row.share_id),
      userId,
    );
    const shares = new Map(found.map((share) => [share.id, share]));
    const unlocks = kept.flatMap((row) => {
      const share = shares.get(row.share_id);
      return share === undefined ? [] : [toPastUnlock(row, share)];
    });
    return { unlocks, hasMore: rows.length > pageSize };
  }
}

function toPastUnlock({ via, points, application, created_at: at }: UnlockRow, share: ShareRow): PastUnlock {
  const { kind, url, access_code: accessCode } = share;
  return { share, fullUrl: formatFullUrl({ kind, url, accessCode }), via, points, application, at };
}
