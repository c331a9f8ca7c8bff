import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Bytes and flows since the first start, over restarts. */
export interface TrafficTotals {
  upload: number;
  download: number;
  opened: number;
  failed: number;
}

@Injectable()
export class TrafficTotalsService {
  constructor(private readonly dataSource: DataSource) {}

  async all(): Promise<TrafficTotals> {
    const [row]: TrafficTotals[] = await this.dataSource.query(
      `SELECT coalesce(sum(upload), 0)::bigint AS upload, coalesce(sum(download), 0)::bigint AS download,
         coalesce(sum(requests), 0)::bigint AS opened, coalesce(sum(errors), 0)::bigint AS failed FROM traffic_totals`,
    );
    return row ?? { upload: 0, download: 0, opened: 0, failed: 0 };
  }
}
