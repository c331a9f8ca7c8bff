import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../credentials/caller.js';
import { ShareLooks } from '../risk/share-looks.js';
import { WeeklyFreeUnlocks } from '../weekly-free/weekly-free.service.js';
import { ShareCounters } from './share-counters.js';
import { ShareReader } from './share-reader.js';
import type { ShareRow } from './share-rows.js';
import { toShareDetail, type ShareDetailView } from './share.view.js';

type Viewer = Pick<Caller, 'userId' | 'isPremium'>;

export interface OfferedShare {
  readonly row: ShareRow;
  /** In points; 0 for free. */
  readonly price: number;
}

/** One share with its price for one caller. */
@Injectable()
export class ShareOffer {
  constructor(
    private readonly reader: ShareReader,
    private readonly counters: ShareCounters,
    private readonly weeklyFree: WeeklyFreeUnlocks,
    private readonly looks: ShareLooks,
  ) {}

  /** For the open API. Counts as a view. @throws NOT_FOUND */
  async show(slug: string, viewer: Viewer): Promise<ShareDetailView> {
    const { row, price } = await this.look(slug, viewer);
    return toShareDetail(row, price);
  }

  /** The share and its current price. Counts as a view. @throws NOT_FOUND */
  async look(slug: string, viewer: Viewer): Promise<OfferedShare> {
    const row = await this.reader.detail(slug, viewer.userId);
    if (row === undefined) throw new AppError('NOT_FOUND', 'The share does not exist');
    this.counters.click(row.id);
    if (viewer.userId !== null) this.looks.note(viewer.userId, row.slug);
    return { row, price: await this.priceFor(row, viewer) };
  }

  /** The current price. Users with lifetime Premium get official shares free, and some others every week. */
  private async priceFor(row: ShareRow, { userId, isPremium }: Viewer): Promise<number> {
    const { price } = row;
    if (price === 0 || row.is_own || row.has_unlocked) return 0;
    if (userId === null || !isPremium) return price;
    const { forever, unlimited, remaining } = await this.weeklyFree.of(userId);
    return forever && (row.is_official || unlimited || remaining > 0) ? 0 : price;
  }
}
