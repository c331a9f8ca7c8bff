import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';

/** Visitors' addresses per resource: the latest are kept. */
const ADDRESSES = 10_000;
/** Rows per transaction, so that the writer of counters does not wait long. */
const ROWS = 20_000;

/** Events that are kept, whatever their age, so that a flood cannot fill the disk. */
const EVENTS = 200_000;
/** Grants for raw tunnels that are kept: the latest. */
const GRANTS = 200_000;

/** Keeps batches that are not in the totals by minute, hour and day yet. */
const SWEEPS = {
  minutes: old('tunnel_gateway_ops.flow_minutes', `starts_at < now() - interval '2 days'`),
  hours: old('tunnel_gateway_ops.flow_hours', `starts_at < now() - interval '40 days'`),
  days: old('tunnel_gateway_ops.flow_days', `starts_at < now() - interval '400 days'`),
  batches: old('tunnel_gateway_ops.flow_batches', `rolled_up AND applied_at < now() - interval '10 days'`),
  // The content of a batch is in the totals. Its id is kept longer, for files of machines that were off.
  emptied: `UPDATE tunnel_gateway_ops.flow_batches SET flows = '[]', visitors = '[]' WHERE id = ANY (ARRAY(
    SELECT id FROM tunnel_gateway_ops.flow_batches WHERE rolled_up AND applied_at < now() - interval '2 days'
      AND (flows <> '[]' OR visitors <> '[]') LIMIT ${ROWS}))`,
  sessions: old('tunnel_gateway.sessions', 'expires_at < now()'),
  events: old(
    'tunnel_gateway_ops.events',
    `created_at < now() - interval '30 days'
      OR id <= (SELECT max(id) - ${EVENTS} FROM tunnel_gateway_ops.events)`,
  ),
  deliveries: old(
    'tunnel_gateway_ops.webhook_deliveries',
    `status <> 'pending' AND created_at < now() - CASE status WHEN 'dead' THEN interval '30 days' ELSE interval '7 days' END`,
  ),
  grants: old(
    'tunnel_gateway_ops.visitor_grants',
    `until < now() OR created_at < (SELECT created_at FROM tunnel_gateway_ops.visitor_grants
      ORDER BY created_at DESC OFFSET ${GRANTS} LIMIT 1)`,
  ),
  deviceLogins: old('tunnel_gateway_ops.device_logins', 'expires_at < now()'),
  tries: old('tunnel_gateway_ops.visitor_tries', `since < now() - interval '1 hour'`),
} as const;

const CROWDED = `
  SELECT resource_type, resource_id FROM tunnel_gateway.request_ips
  GROUP BY resource_type, resource_id HAVING count(*) > ${ADDRESSES}`;

const THIN_OUT = `
  DELETE FROM tunnel_gateway.request_ips WHERE id IN (
    SELECT id FROM tunnel_gateway.request_ips WHERE resource_type = $1 AND resource_id = $2
    ORDER BY last_seen_at DESC NULLS LAST, id DESC OFFSET ${ADDRESSES} LIMIT ${ROWS}
  )`;

export type RetentionReport = Record<keyof typeof SWEEPS | 'addresses', number>;

/** Deletes old data. Running it twice, or in two places, does no harm. */
@Injectable()
export class Retention {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  async sweep(signal?: AbortSignal): Promise<RetentionReport> {
    const report = { addresses: 0 } as RetentionReport;
    for (const name of Object.keys(SWEEPS) as (keyof typeof SWEEPS)[]) {
      report[name] = await this.all(SWEEPS[name], [], signal);
    }
    for (const { resource_type, resource_id } of await this.crowded()) {
      report.addresses += await this.all(THIN_OUT, [resource_type, resource_id], signal);
    }
    return report;
  }

  private async crowded(): Promise<{ resource_type: string; resource_id: number }[]> {
    return this.unitOfWork.run((tx) => tx.query(CROWDED));
  }

  /** Deletes in parts until nothing is left. */
  private async all(sql: string, values: unknown[], signal: AbortSignal | undefined): Promise<number> {
    let all = 0;
    for (let removed = ROWS; removed === ROWS && !signal?.aborted; all += removed) {
      removed = await this.unitOfWork.run(async (tx) => ((await tx.query(sql, values)) as [unknown[], number])[1]);
    }
    return all;
  }
}

function old(table: string, condition: string): string {
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${ROWS}))`;
}
