import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { ShareReader } from '../shares/share-reader.js';
import { ShareWriter } from '../shares/share-writer.js';
import { siteSharer } from '../shares/site-sharer.js';
import { Titles } from '../titles/titles.js';
import { DEMO_SHARES, type DemoShare } from './demo-shares.js';

export interface DemoShareLine {
  readonly slug: string;
  readonly title: string;
  readonly points: number | null;
}

/** Titles and shares of the demonstration. */
@Injectable()
export class DemoLibrary {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly writer: ShareWriter,
    private readonly reader: ShareReader,
    private readonly titles: Titles,
  ) {}

  /** Shares that exist already stay with their owners; resolves to those of this owner. */
  async ensure(ownerId: number): Promise<DemoShareLine[]> {
    for (const share of DEMO_SHARES) await this.share(ownerId, share);
    const { rows } = await this.reader.ofOwner(ownerId, 1, 100);
    return rows.map(({ slug, title, unlock_points: points }) => ({ slug, title: title ?? slug, points }));
  }

  private async share(ownerId: number, { type, tmdbId, titleName, title, url, points }: DemoShare): Promise<void> {
    try {
      await this.unitOfWork.run(async (tx) => {
        await this.titles.findOrCreate(tx, { mediaType: type, tmdbId }, titleName);
        const body = { url, title, tmdb_id: tmdbId, media_type: type, unlock_points: points };
        await this.writer.create(siteSharer({ id: ownerId, permissions: [] }), body, tx);
      });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SHARE_LINK_EXISTS') throw error;
    }
  }
}
