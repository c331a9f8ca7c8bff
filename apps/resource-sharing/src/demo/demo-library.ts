import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { ShareReader } from '../shares/share-reader.js';
import { ShareWriter } from '../shares/share-writer.js';
import { siteSharer } from '../shares/site-sharer.js';
import { Titles, type MediaType } from '../titles/titles.js';

interface DemoShare {
  readonly type: Exclude<MediaType, 'collection'>;
  readonly tmdbId: string;
  readonly titleName: string;
  readonly title: string;
  readonly url: string;
  readonly points: number | null;
}

/** Links of nobody, in the forms of three services. */
const DEMO_SHARES: readonly DemoShare[] = [
  {
    type: 'movie',
    tmdbId: '19995',
    titleName: 'Demo film',
    title: 'Demo film, free',
    url: 'https://115.com/s/gatehousedemo1?password=d3m0',
    points: null,
  },
  {
    type: 'movie',
    tmdbId: '19995',
    titleName: 'Demo film',
    title: 'Demo film, for points',
    url: 'https://pan.quark.cn/s/0123456789ab?pwd=demo',
    points: 10,
  },
  {
    type: 'tv',
    tmdbId: '1399',
    titleName: 'Demo series',
    title: 'Demo series, first season',
    url: 'https://www.alipan.com/s/GatehouseDemo1',
    points: 25,
  },
];

export interface DemoShareLine {
  readonly slug: string;
  readonly title: string;
  readonly points: number | null;
  /** The title that it is of, as the API's paths name it: `tv/1399`. */
  readonly ofTitle: string;
}

/** Titles and shares of the demo data. */
@Injectable()
export class DemoLibrary {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly writer: ShareWriter,
    private readonly reader: ShareReader,
    private readonly titles: Titles,
  ) {}

  /** Existing shares stay with their owners; resolves to those of this owner. */
  async ensure(ownerId: number): Promise<DemoShareLine[]> {
    for (const share of DEMO_SHARES) await this.share(ownerId, share);
    const { rows } = await this.reader.ofOwner(ownerId, 1, 100);
    return rows.map(({ slug, title, unlock_points: points, media_type: type, tmdb_id: id }) => {
      return { slug, title: title ?? slug, points, ofTitle: `${type}/${id}` };
    });
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
