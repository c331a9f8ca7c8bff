import { MAX_COUNT } from '@gatehouse/net';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';

/** Batches per transaction: some minutes of one edge. */
const BATCHES = 500;
/** Any unused number; concurrent workers run one after the other. */
const LOCK = 'SELECT pg_advisory_xact_lock(1763668802, 130)';

/** The sum of bigints is a numeric without a limit. */
function total(column: string): string {
  return `least(sum(${column}), ${MAX_COUNT})::bigint`;
}

/** Days are in UTC, so that they are the same for everybody. */
const ADD = `
  WITH taken AS (
    UPDATE tunnel_gateway_ops.flow_batches b SET rolled_up = true
    WHERE b.id IN (
      SELECT id FROM tunnel_gateway_ops.flow_batches WHERE NOT rolled_up ORDER BY taken_at LIMIT $1
    ) RETURNING b.taken_at, b.flows
  ), share AS (
    SELECT level.type, level.id, date_trunc('minute', taken.taken_at, 'UTC') AS minute,
      ${total('f.inlet')} AS inlet, ${total('f.export')} AS export, ${total('f.connections')} AS connections
    FROM taken
    CROSS JOIN LATERAL jsonb_to_recordset(taken.flows) AS f (
      kind text, id bigint, "clientId" bigint, "userId" bigint, inlet bigint, export bigint, connections bigint)
    CROSS JOIN LATERAL (
      VALUES (f.kind, f.id), ('client', f."clientId"), ('user', f."userId"), ('global', 0)
    ) AS level (type, id)
    WHERE level.type <> 'user' OR level.id > 0
    GROUP BY 1, 2, 3
  ), minutes AS (${addTo('flow_minutes', 'minute')}
  ), hours AS (${addTo('flow_hours', 'hour')}
  ), days AS (${addTo('flow_days', 'day')}
  )
  SELECT count(*)::int AS batches FROM taken`;

function addTo(table: string, unit: string): string {
  return `
    INSERT INTO tunnel_gateway_ops.${table} AS t
      (resource_type, resource_id, starts_at, inlet_bytes, export_bytes, connections)
    SELECT type, id, date_trunc('${unit}', minute, 'UTC'), ${total('inlet')}, ${total('export')}, ${total('connections')}
    FROM share GROUP BY 1, 2, 3
    ON CONFLICT (resource_type, resource_id, starts_at) DO UPDATE SET
      inlet_bytes = least(t.inlet_bytes + EXCLUDED.inlet_bytes, ${MAX_COUNT}),
      export_bytes = least(t.export_bytes + EXCLUDED.export_bytes, ${MAX_COUNT}),
      connections = least(t.connections + EXCLUDED.connections, ${MAX_COUNT})`;
}

/**
 * Adds batches to the totals by minute, hour and day. The same transaction marks the batch, so that it counts exactly
 * once.
 */
@Injectable()
export class FlowRollup {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Continues until nothing is left; resolves to the number of added batches. */
  async run(signal?: AbortSignal): Promise<number> {
    let all = 0;
    for (let added = BATCHES; added === BATCHES && !signal?.aborted; all += added) added = await this.step(BATCHES);
    return all;
  }

  /** One transaction. */
  async step(limit: number): Promise<number> {
    return this.unitOfWork.run(async (tx) => {
      await tx.query(LOCK);
      const [row] = (await tx.query(ADD, [limit])) as { batches: number }[];
      return row?.batches ?? 0;
    });
  }
}
