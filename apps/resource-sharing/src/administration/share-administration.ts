import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import type { ShareLinkKind } from '@gatehouse/share-links';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { rowsOf } from '../data/rows-of.js';
import { parseSlug } from '../shares/share-slug.js';
import { ShareWriter } from '../shares/share-writer.js';
import { siteSharer } from '../shares/site-sharer.js';

/** A share as administrators see it: without its link. */
export interface KnownShare {
  readonly slug: string;
  readonly title: string | null;
  readonly kind: ShareLinkKind;
  readonly ownerId: number;
  readonly owner: string;
  readonly unlockPoints: number | null;
  readonly isOfficial: boolean;
  readonly createdAt: Date;
}

/** Shares of all users, for administrators. */
@Injectable()
export class ShareAdministration {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly writer: ShareWriter,
  ) {}

  /** Live shares, newest first; `search` is a part of the titles or of the sharer's name, or a slug. */
  async list(options: { search?: string | undefined; limit: number; offset: number }): Promise<KnownShare[]> {
    const { search, limit, offset } = options;
    return rowsOf<KnownShare>(
      this.dataSource,
      `SELECT replace(s.slug::text, '-', '') AS slug, coalesce(s.title, t.title) AS title, s.kind,
         s.owner_id AS "ownerId", o.username AS owner, s.unlock_points AS "unlockPoints",
         s.is_official AS "isOfficial", s.created_at AS "createdAt"
       FROM shares s JOIN site_accounts o ON o.id = s.owner_id
       JOIN titles t ON t.id = coalesce(s.movie_id, s.tv_id, s.collection_id)
       WHERE s.deleted_at IS NULL AND ($1::text IS NULL OR s.slug = $2
         OR strpos(lower(concat_ws(' ', s.title, t.title, o.username)), lower($1)) > 0)
       ORDER BY s.id DESC LIMIT $3 OFFSET $4`,
      [search ?? null, parseSlug(search ?? '') ?? null, limit, offset],
    );
  }

  /** Official shares are free for users with lifetime Premium. @throws NOT_FOUND */
  async setOfficial(actorId: number, slug: string, isOfficial: boolean): Promise<void> {
    const key = parseSlug(slug);
    await this.unitOfWork.run(async (tx) => {
      const [row] =
        key === undefined
          ? []
          : await rowsOf<{ id: number; userId: number }>(
              tx,
              `UPDATE shares SET is_official = $2, updated_at = now() WHERE slug = $1 AND deleted_at IS NULL
               RETURNING id, owner_id AS "userId"`,
              [key, isOfficial],
            );
      if (row === undefined) throw new AppError('NOT_FOUND', 'The share does not exist');
      const { id, userId } = row;
      const details = { share_id: id, is_official: isOfficial };
      await recordEvent(tx, { type: 'share.official_changed', userId, actorId, details });
    });
  }

  /** Withdraws a share for its sharer. @throws NOT_FOUND */
  async remove(actorId: number, slug: string): Promise<void> {
    await this.writer.delete(siteSharer({ id: actorId, permissions: ['share:manage'] }), slug);
  }
}
