import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Titles } from '../titles/titles.js';
import type { CreateShareBody } from './share.dto.js';

/** The titles of a share; at least one. */
export interface ShareRelation {
  readonly movie_id: number | null;
  readonly tv_id: number | null;
  readonly collection_id: number | null;
}

type Named = Pick<CreateShareBody, 'tmdb_id' | 'media_type' | 'movie_id' | 'tv_id' | 'collection_id'>;

/** Connects shares with titles. */
@Injectable()
export class ShareRelations {
  constructor(private readonly titles: Titles) {}

  /**
   * A title that is named for the first time by tmdb_id and media_type is created.
   * @throws INVALID_ARGUMENT with the field.
   */
  async of(tx: EntityManager, named: Named): Promise<ShareRelation> {
    const pair = pairOf(named);
    if (pair === undefined && named.movie_id == null && named.tv_id == null && named.collection_id == null) {
      throw new AppError('INVALID_ARGUMENT', 'Name a title: tmdb_id with media_type, movie_id, tv_id or collection_id');
    }
    const relation = {
      movie_id: await this.existing(tx, 'movie', named.movie_id),
      tv_id: await this.existing(tx, 'tv', named.tv_id),
      collection_id: await this.existing(tx, 'collection', named.collection_id),
    };
    if (pair === undefined) return relation;
    const id = await this.titles.findOrCreate(tx, pair);
    const field = `${pair.mediaType}_id` as const;
    if (relation[field] !== null && relation[field] !== id) throw refusal(field, 'is another title than tmdb_id');
    return { ...relation, [field]: id };
  }

  private async existing(
    tx: EntityManager,
    type: 'movie' | 'tv' | 'collection',
    id: number | null | undefined,
  ): Promise<number | null> {
    return id == null ? null : this.titles.require(tx, `${type}_id`, id);
  }
}

function pairOf({ tmdb_id, media_type }: Named): { mediaType: 'movie' | 'tv'; tmdbId: string } | undefined {
  if (tmdb_id == null && media_type == null) return undefined;
  if (tmdb_id == null) throw refusal('tmdb_id', 'goes with media_type');
  if (media_type == null) throw refusal('media_type', 'goes with tmdb_id');
  return { mediaType: media_type, tmdbId: tmdb_id };
}

function refusal(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
