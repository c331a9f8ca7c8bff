import type { TrafficLogStatus, TrafficLogView } from '@gatehouse/contracts';
import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';

const TONES: Record<TrafficLogStatus, BadgeTone> = { ok: 'good', failed: 'bad', rejected: 'fair' };

interface TrafficLogTableProps {
  rows: readonly TrafficLogView[] | undefined;
  onOpen: (log: TrafficLogView) => void;
}

export function TrafficLogTable({ rows, onOpen }: TrafficLogTableProps) {
  const columns: Column<TrafficLogView>[] = [
    { head: 'Ended', cell: ({ ended_at }) => formatTime(ended_at) },
    { head: 'Host', grow: true, cell: (log) => <Target log={log} onOpen={onOpen} /> },
    { head: 'Rule', cell: (log) => <Rule log={log} /> },
    { head: 'Status', cell: (log) => <Status log={log} /> },
    { head: 'Received', right: true, cell: ({ download }) => formatBytes(download) },
    { head: 'Sent', right: true, cell: ({ upload }) => formatBytes(upload) },
    { head: 'Lasted', right: true, cell: ({ duration_ms }) => formatDuration(duration_ms) },
  ];
  return (
    <Table caption="Traffic log" columns={columns} rows={rows} rowKey={({ id }) => id} empty="Nothing was found." />
  );
}

function Target({ log, onOpen }: { log: TrafficLogView; onOpen: (log: TrafficLogView) => void }) {
  return (
    <>
      <button type="button" class="link" onClick={() => onOpen(log)}>
        {`${log.host ?? log.destination_ip ?? '?'}:${log.target_port}`}
      </button>
      <span class="second">{`${log.client_ip} · ${log.network} · ${log.chains.join(' → ')}`}</span>
    </>
  );
}

function Rule({ log }: { log: TrafficLogView }) {
  return (
    <>
      {log.rule_type ?? 'default'}
      <span class="second">{log.rule_payload ?? ''}</span>
    </>
  );
}

function Status({ log }: { log: TrafficLogView }) {
  return (
    <Badge tone={TONES[log.status]} title={log.error_message ?? undefined}>
      {log.http_status === null ? log.status : `${log.status} ${log.http_status}`}
    </Badge>
  );
}
