import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ResourceSharingSettings } from '../settings.js';
import { type MediaType, TMDB_ID } from '../titles/titles.js';
import { selectShares, type ShareRow } from './share-rows.js';
import { parseSlug } from './share-slug.js';

/** Of one title in one answer; more are on further pages. */
export const MAX_OF_TITLE = 500;

const NEWEST_FIRST = 'ORDER BY s.id DESC';
const ITEM = selectShares('SELECT * FROM shares WHERE id = $3 LIMIT 1');
// Users who unlocked a share keep it after it was withdrawn.
const DETAIL = `${selectShares('SELECT * FROM shares WHERE slug = $3 LIMIT 1')}
  WHERE s.deleted_at IS NULL OR u.share_id IS NOT NULL`;
const OF_TITLE: Readonly<Record<MediaType, string>> = {
  movie: ofTitle('movie'),
  tv: ofTitle('tv'),
  collection: ofTitle('collection'),
};
const COUNT_OF_TITLE: Readonly<Record<MediaType, string>> = {
  movie: countOfTitle('movie'),
  tv: countOfTitle('tv'),
  collection: countOfTitle('collection'),
};
const BY_IDS = selectShares('SELECT * FROM shares WHERE id = ANY ($3::bigint[]) LIMIT 1000');
const OF_OWNER = `${selectShares(`
  SELECT * FROM shares WHERE owner_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $3 OFFSET $4`)}
  ${NEWEST_FIRST}`;
const COUNT_OF_OWNER = 'SELECT count(*) AS total FROM shares WHERE owner_id = $1 AND deleted_at IS NULL';

function ofTitle(type: MediaType): string {
  const title = `SELECT id FROM titles WHERE media_type = '${type}' AND tmdb_id = $3`;
  const chosen = `SELECT * FROM shares WHERE ${type}_id = (${title}) AND deleted_at IS NULL
    ORDER BY id DESC LIMIT $4 OFFSET $5`;
  return `${selectShares(chosen)} ${NEWEST_FIRST}`;
}

function countOfTitle(type: MediaType): string {
  return `SELECT count(*) AS total FROM shares
    WHERE ${type}_id = (SELECT id FROM titles WHERE media_type = '${type}' AND tmdb_id = $1) AND deleted_at IS NULL`;
}

export interface SharePage {
  readonly rows: ShareRow[];
  readonly total: number;
}

/** Reads shares, each list in one statement. */
@Injectable()
export class ShareReader {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** Newest first; empty for an unknown title. */
  async ofTitle(
    { type, tmdbId }: { type: MediaType; tmdbId: string },
    viewerId: number | null,
    { page = 1, pageSize = MAX_OF_TITLE }: { page?: number | undefined; pageSize?: number | undefined } = {},
  ): Promise<SharePage> {
    if (!TMDB_ID.test(tmdbId)) return { rows: [], total: 0 };
    const offset = (page - 1) * pageSize;
    const values = [viewerId, this.settings.timeZone, tmdbId, pageSize, offset];
    const rows = await this.select(`shares_of_${type}`, OF_TITLE[type], values);
    const isWhole = page === 1 && rows.length < pageSize;
    return { rows, total: isWhole ? rows.length : await this.count(`count_of_${type}`, COUNT_OF_TITLE[type], tmdbId) };
  }

  /** Undefined if there is none that the viewer can see. */
  async detail(slug: string, viewerId: number | null): Promise<ShareRow | undefined> {
    const id = parseSlug(slug);
    if (id === undefined) return undefined;
    const [row] = await this.select('share_detail', DETAIL, [viewerId, this.settings.timeZone, id]);
    return row;
  }

  async ofOwner(ownerId: number, page: number, pageSize: number): Promise<SharePage> {
    const values = [ownerId, this.settings.timeZone, pageSize, (page - 1) * pageSize];
    const [rows, total] = await Promise.all([
      this.select('shares_of_owner', OF_OWNER, values),
      this.count('share_count', COUNT_OF_OWNER, ownerId),
    ]);
    return { rows, total };
  }

  /** Shares by their ids, including deleted ones, in any order; at most 1,000. */
  async byIds(ids: readonly number[], viewerId: number): Promise<ShareRow[]> {
    return ids.length === 0 ? [] : this.select('shares_by_ids', BY_IDS, [viewerId, this.settings.timeZone, ids]);
  }

  /** One share by its id, within the transaction that created or changed it. */
  async item(tx: EntityManager, id: number, viewerId: number): Promise<ShareRow> {
    const [row] = await tx.query<ShareRow[]>(ITEM, [viewerId, this.settings.timeZone, id]);
    if (row === undefined) throw new Error(`share ${id} is gone`);
    return row;
  }

  private async count(name: string, text: string, value: unknown): Promise<number> {
    const { rows } = await pgPool(this.dataSource).query<{ total: number }>({ name, text, values: [value] });
    return rows[0]?.total ?? 0;
  }

  private async select(name: string, text: string, values: unknown[]): Promise<ShareRow[]> {
    const { rows } = await pgPool(this.dataSource).query<ShareRow>({ name, text, values });
    return rows;
  }
}
