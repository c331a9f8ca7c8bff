import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

export const MEDIA_TYPES = ['movie', 'tv', 'collection'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

/** Ids at TMDB. */
export const TMDB_ID = /^[1-9][0-9]{0,17}$/;

export interface TitleKey {
  readonly mediaType: MediaType;
  readonly tmdbId: string;
}

/** Films, series and collections that shares belong to. */
@Injectable()
export class Titles {
  /** The id of a title, which is created when it is named for the first time. A name fills in a missing one. */
  async findOrCreate(tx: EntityManager, { mediaType, tmdbId }: TitleKey, title: string | null = null): Promise<number> {
    const values = [mediaType, tmdbId, title];
    const [found] = await tx.query<{ id: number; title: string | null }[]>(
      'SELECT id, title FROM titles WHERE media_type = $1 AND tmdb_id = $2',
      values.slice(0, 2),
    );
    if (found !== undefined && (title === null || found.title !== null)) return found.id;
    const [made] = await tx.query<{ id: number }[]>(UPSERT, values);
    if (made === undefined) throw new Error('the title was neither found nor made');
    return made.id;
  }

  /** @throws INVALID_ARGUMENT with the field if there is no such title of that type. */
  async require(tx: EntityManager, field: `${MediaType}_id`, id: number): Promise<number> {
    const [found] = await tx.query<{ id: number }[]>('SELECT id FROM titles WHERE id = $1 AND media_type = $2', [
      id,
      field.slice(0, -'_id'.length),
    ]);
    if (found !== undefined) return found.id;
    const message = 'does not exist';
    throw new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
  }
}

const UPSERT = `
  INSERT INTO titles (media_type, tmdb_id, title) VALUES ($1, $2, $3)
  ON CONFLICT (media_type, tmdb_id) DO UPDATE SET title = coalesce(titles.title, excluded.title)
  RETURNING id`;
