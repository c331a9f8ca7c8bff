import { MetricsRegistry } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const READ = `
  SELECT run_status AS "runStatus", count(*)::integer AS count FROM tunnel_gateway.tunnels GROUP BY 1`;

/** By `run_status`. */
const STATES = ['stopped', 'running', 'waiting', 'failed'] as const;

interface Row {
  runStatus: number;
  count: number;
}

/** How the tunnels are, as the edge reported it: one read for each scrape. */
@Injectable()
export class TunnelMetrics {
  constructor(metrics: MetricsRegistry, dataSource: DataSource) {
    const tunnels = metrics.gauge('gatehouse_tunnels', 'Tunnels by state; waiting: for their agent', ['state']);
    const read = (): Promise<Row[]> => dataSource.query<Row[]>(READ);
    metrics.readOnScrape('tunnels', [tunnels], read, (rows) => {
      for (const [runStatus, state] of STATES.entries()) {
        tunnels.set({ state }, rows.find((row) => row.runStatus === runStatus)?.count ?? 0);
      }
    });
  }
}
