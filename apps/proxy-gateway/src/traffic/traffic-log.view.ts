import type { TrafficLogStatus, TrafficLogView } from '@gatehouse/contracts';

/** A row of `traffic_logs` as it is read: the fields of the view, with times as dates. */
export interface TrafficLogRow extends Omit<TrafficLogView, 'started_at' | 'ended_at' | 'duration_ms' | 'status'> {
  started_at: Date;
  ended_at: Date;
  status: TrafficLogStatus;
}

/** The columns to read, in the order of the API. */
export const TRAFFIC_LOG_COLUMNS = [
  'id',
  'started_at',
  'ended_at',
  'client_ip',
  'client_port',
  'inbound',
  'inbound_user',
  'network',
  'method',
  'host',
  'target_port',
  'destination_ip',
  'url',
  'rule_id',
  'rule_type',
  'rule_payload',
  'chains',
  'node_id',
  'node_name',
  'node_country',
  'exit_ip',
  'upload',
  'download',
  'status',
  'http_status',
  'error_stage',
  'error_kind',
  'error_errno',
  'error_message',
  'close_reason',
  'kernel',
] as const satisfies readonly (keyof TrafficLogRow)[];

export function toTrafficLogView(row: TrafficLogRow): TrafficLogView {
  const { id, started_at, ended_at, ...rest } = row;
  return {
    id,
    started_at: started_at.toISOString(),
    ended_at: ended_at.toISOString(),
    duration_ms: Math.max(0, ended_at.getTime() - started_at.getTime()),
    ...rest,
  };
}

/** Identifies the row that the next page starts behind. */
export function cursorOf(row: TrafficLogRow): string {
  return `${row.ended_at.getTime()}-${row.id}`;
}

export function parseCursor(cursor: string): { endedAt: number; id: number } {
  const [endedAt, id] = cursor.split('-').map(Number);
  return { endedAt: endedAt ?? 0, id: id ?? 0 };
}
