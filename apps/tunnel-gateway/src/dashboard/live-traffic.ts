import type { Actor } from '@gatehouse/auth';
import type { DashboardLive } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { seesAll } from '../data/owned-rows.js';
import type { Presence } from './presence.js';

/** The edge writes a batch every second. */
const WINDOW_SECONDS = 10;

interface Moved {
  inlet: number;
  export: number;
  connections: number;
}

/** Of the whole gateway, or of the clients that belonged to a user at that time. */
const MOVED = `
  SELECT coalesce(sum(f.inlet), 0)::float8 AS inlet, coalesce(sum(f.export), 0)::float8 AS export,
    coalesce(sum(f.connections), 0)::float8 AS connections
  FROM tunnel_gateway_ops.flow_batches b
    CROSS JOIN LATERAL jsonb_to_recordset(b.flows) AS f ("userId" bigint, inlet bigint, export bigint, connections bigint)
  WHERE b.taken_at > $1 AND ($2::bigint IS NULL OR f."userId" = $2)`;

/** Current traffic: the mean of the last seconds. */
@Injectable()
export class LiveTraffic {
  constructor(private readonly dataSource: DataSource) {}

  async of(actor: Actor, { connections }: Presence, now: number): Promise<DashboardLive> {
    const userId = seesAll(actor) ? null : (actor.userId ?? 0);
    const since = new Date(now - WINDOW_SECONDS * 1_000);
    const [moved]: Moved[] = await this.dataSource.query(MOVED, [since, userId]);
    return {
      connections,
      inlet_bytes_per_second: (moved?.inlet ?? 0) / WINDOW_SECONDS,
      export_bytes_per_second: (moved?.export ?? 0) / WINDOW_SECONDS,
      new_connections_per_second: (moved?.connections ?? 0) / WINDOW_SECONDS,
      window_seconds: WINDOW_SECONDS,
    };
  }
}
