import type { ProxyUserTraffic } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hourlySeries, periodOf } from '../dashboard/period-lists.js';
import type { TrafficQuery } from './proxy-user.dto.js';

interface HourRow {
  hour: Date;
  requests: number;
  errors: number;
  up: number;
  down: number;
}

/** Reads the hourly buckets of one user. */
@Injectable()
export class UserHistory {
  /** @throws AppError INVALID_ARGUMENT */
  async read(tx: EntityManager, user: string, query: TrafficQuery): Promise<ProxyUserTraffic> {
    const period = periodOf(query, Date.now());
    const rows: HourRow[] = await tx.query(
      `SELECT hour, requests, errors, upload AS up, download AS down FROM traffic_user_hourly
       WHERE username = $1 AND hour >= $2 AND hour <= $3`,
      [user, period.from, period.to],
    );
    const sum = (column: 'requests' | 'errors' | 'up' | 'down'): number =>
      rows.reduce((total, row) => total + row[column], 0);
    return {
      period: { from: period.from.toISOString(), to: period.to.toISOString() },
      requests: sum('requests'),
      errors: sum('errors'),
      upload: sum('up'),
      download: sum('down'),
      series: hourlySeries(period, rows),
    };
  }
}
