import { layerOfWork } from '@gatehouse/persistence';
import { MetricsRegistry } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';

/** Why points move. */
export type TransferKind = 'unlock' | 'check_in' | 'grant' | 'share_deletion';

/** Counts points that moved, also where a function of the database moves them. Not those of test mode. */
@Injectable()
export class PointMetrics {
  private readonly points;

  constructor(metrics: MetricsRegistry) {
    const help = 'Points that moved between accounts, by what for';
    this.points = metrics.counter('gatehouse_points_moved_total', help, ['kind']);
  }

  moved(kind: TransferKind, points: number): void {
    if (points > 0 && layerOfWork() === undefined) this.points.inc({ kind }, points);
  }
}
