import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** What was carried since the first start, over restarts. Bytes and flows. */
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

  /** Nodes that never carried anything are absent. */
  async ofNodes(ids: readonly number[]): Promise<Map<number, TrafficTotals>> {
    const rows: (TrafficTotals & { node_id: number })[] = await this.dataSource.query(
      `SELECT node_id, upload, download, requests AS opened, errors AS failed FROM traffic_totals
       WHERE node_id = ANY ($1::bigint[])`,
      [ids],
    );
    return new Map(rows.map(({ node_id, ...totals }) => [node_id, totals]));
  }
}
