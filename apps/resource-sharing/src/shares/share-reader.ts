import { pgPool } from '@gatehouse/persistence';
import { formatFullUrl, type ShareLinkKind } from '@gatehouse/share-links';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ResourceSharingSettings } from '../settings.js';
import { selectRows, type SqlRunner } from '../titles/select-rows.js';
import { TMDB_ID } from '../titles/titles.js';
import { selectShares, type ShareRow } from './share-rows.js';
import { parseSlug } from './share-slug.js';

/** Of one title; more would be no list anybody reads. */
const MAX_OF_TITLE = 500;

const NEWEST_FIRST = 'ORDER BY s.id DESC';
const ITEM = selectShares('SELECT * FROM shares WHERE id = $3 LIMIT 1');
// Who unlocked a share keeps it after it was taken back.
const DETAIL = `${selectShares('SELECT * FROM shares WHERE slug = $3 LIMIT 1')}
  WHERE s.deleted_at IS NULL OR u.share_id IS NOT NULL`;
const OF_MOVIE = ofTitle('movie');
const OF_SERIES = ofTitle('tv');
const OF_OWNER = `${selectShares(`
  SELECT * FROM shares WHERE owner_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $3 OFFSET $4`)}
  ${NEWEST_FIRST}`;
const COUNT_OF_OWNER = 'SELECT count(*) AS total FROM shares WHERE owner_id = $1 AND deleted_at IS NULL';
const FOR_UNLOCK = `
  SELECT id, owner_id, unlock_points, url, access_code, kind, link_key, is_official, deleted_at IS NOT NULL AS deleted
  FROM shares WHERE slug = $1`;

function ofTitle(type: 'movie' | 'tv'): string {
  const title = `SELECT id FROM titles WHERE media_type = '${type}' AND tmdb_id = $3`;
  const chosen = `SELECT * FROM shares WHERE ${type}_id = (${title}) AND deleted_at IS NULL
    ORDER BY id DESC LIMIT ${MAX_OF_TITLE}`;
  return `${selectShares(chosen)} ${NEWEST_FIRST}`;
}

/** A share as unlocking needs it. */
export interface UnlockableShare {
  readonly id: number;
  readonly ownerId: number;
  /** Null: free. */
  readonly unlockPoints: number | null;
  readonly url: string;
  readonly accessCode: string;
  readonly fullUrl: string;
  readonly kind: ShareLinkKind;
  /** `kind:id` of the link. */
  readonly key: string;
  readonly official: boolean;
  /** Taken back: only for those who have it. */
  readonly deleted: boolean;
}

interface UnlockableRow {
  id: number;
  owner_id: number;
  unlock_points: number | null;
  url: string;
  access_code: string;
  kind: ShareLinkKind;
  link_key: string;
  is_official: boolean;
  deleted: boolean;
}

export interface SharePage {
  readonly rows: ShareRow[];
  readonly total: number;
}

/** Shares as they are read, each list in one statement. */
@Injectable()
export class ShareReader {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** Newest first; empty for a title that nobody knows. */
  async ofTitle(type: 'movie' | 'tv', tmdbId: string, viewerId: number | null): Promise<ShareRow[]> {
    if (!TMDB_ID.test(tmdbId)) return [];
    const text = type === 'movie' ? OF_MOVIE : OF_SERIES;
    return this.select(`shares_of_${type}`, text, [viewerId, this.settings.timeZone, tmdbId]);
  }

  /** Undefined when there is none that the viewer may see. */
  async detail(slug: string, viewerId: number | null): Promise<ShareRow | undefined> {
    const id = parseSlug(slug);
    if (id === undefined) return undefined;
    const [row] = await this.select('share_detail', DETAIL, [viewerId, this.settings.timeZone, id]);
    return row;
  }

  async ofOwner(ownerId: number, page: number, pageSize: number): Promise<SharePage> {
    const values = [ownerId, this.settings.timeZone, pageSize, (page - 1) * pageSize];
    const [rows, counted] = await Promise.all([
      this.select('shares_of_owner', OF_OWNER, values),
      pgPool(this.dataSource).query<{ total: number }>({
        name: 'share_count',
        text: COUNT_OF_OWNER,
        values: [ownerId],
      }),
    ]);
    return { rows, total: counted.rows[0]?.total ?? 0 };
  }

  /** One share by its id, within the transaction that made or changed it. */
  async item(tx: SqlRunner, id: number, viewerId: number): Promise<ShareRow> {
    const [row] = await selectRows<ShareRow>(tx, ITEM, [viewerId, this.settings.timeZone, id]);
    if (row === undefined) throw new Error(`share ${id} is gone`);
    return row;
  }

  /** Undefined for what is no slug or nobody's. `client`: a pool or client of pg, or a transaction. */
  async forUnlock(client: SqlRunner, slug: string): Promise<UnlockableShare | undefined> {
    const id = parseSlug(slug);
    if (id === undefined) return undefined;
    const [row] = await selectRows<UnlockableRow>(client, FOR_UNLOCK, [id]);
    return row === undefined ? undefined : toUnlockable(row);
  }

  private async select(name: string, text: string, values: unknown[]): Promise<ShareRow[]> {
    const { rows } = await pgPool(this.dataSource).query<ShareRow>({ name, text, values });
    return rows;
  }
}

function toUnlockable(row: UnlockableRow): UnlockableShare {
  const { kind, url, access_code: accessCode } = row;
  return {
    id: row.id,
    ownerId: row.owner_id,
    unlockPoints: row.unlock_points,
    url,
    accessCode,
    fullUrl: formatFullUrl({ kind, url, accessCode }),
    kind,
    key: row.link_key,
    official: row.is_official,
    deleted: row.deleted,
  };
}
