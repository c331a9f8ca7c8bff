import { layerOfWork, withLayer } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';

const FLUSH_MS = 1_000;
const MAX_COUNTED = 10_000;

const ADD_CLICKS = `
  INSERT INTO share_counters (share_id, click_count)
  SELECT clicked.id, clicked.count FROM unnest($1::bigint[], $2::bigint[]) AS clicked (id, count)
  JOIN shares ON shares.id = clicked.id ORDER BY clicked.id
  ON CONFLICT (share_id) DO UPDATE SET click_count = share_counters.click_count + excluded.click_count`;

/**
 * Counts views of shares; an unlock counts separately. Views are collected and written once a second; at most that is
 * lost.
 */
@Injectable()
export class ShareCounters implements BeforeApplicationShutdown {
  /** By the layer of the views, and share. */
  private readonly clicks = new Map<string | undefined, Map<number, number>>();
  private shares = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: JsonLogger,
  ) {}

  click(shareId: number): void {
    const layer = layerOfWork();
    const clicks = this.clicks.get(layer) ?? new Map<number, number>();
    const count = clicks.get(shareId);
    if (count === undefined && this.shares >= MAX_COUNTED) return;
    if (count === undefined) this.shares += 1;
    this.clicks.set(layer, clicks.set(shareId, (count ?? 0) + 1));
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Never rejects: a lost count must not fail a shutdown. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const counted = [...this.clicks];
    this.clicks.clear();
    this.shares = 0;
    for (const [layer, clicks] of counted) await withLayer(layer, () => this.store(clicks));
  }

  private async store(clicks: ReadonlyMap<number, number>): Promise<void> {
    try {
      await this.dataSource.query(ADD_CLICKS, [[...clicks.keys()], [...clicks.values()]]);
    } catch (error) {
      this.logger.warn('looks at shares were not counted', { error }, 'ShareCounters');
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
