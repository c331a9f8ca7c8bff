import type { TrafficLogStatus, TrafficLogView } from '@gatehouse/contracts';
import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';

const TONES: Record<TrafficLogStatus, BadgeTone> = { ok: 'good', failed: 'bad', rejected: 'fair' };

interface TrafficLogTableProps {
  rows: readonly TrafficLogView[] | undefined;
  onOpen: (log: TrafficLogView) => void;
}

export function TrafficLogTable({ rows, onOpen }: TrafficLogTableProps) {
  const columns: Column<TrafficLogView>[] = [
    { head: t('trafficLog.ended'), cell: ({ ended_at }) => formatTime(ended_at) },
    { head: t('words.host'), grow: true, cell: (log) => <Target log={log} onOpen={onOpen} /> },
    { head: t('words.rule'), cell: (log) => <Rule log={log} /> },
    { head: t('common.status'), cell: (log) => <Status log={log} /> },
    { head: t('connections.received'), right: true, cell: ({ download }) => formatBytes(download) },
    { head: t('connections.sent'), right: true, cell: ({ upload }) => formatBytes(upload) },
    { head: t('trafficLog.duration'), right: true, cell: ({ duration_ms }) => formatDuration(duration_ms) },
  ];
  return (
    <Table
      caption={t('nav.trafficLog')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      empty={t('common.nothingFound')}
    />
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
      {log.rule_type ?? t('connections.defaultRule')}
      <span class="second">{log.rule_payload ?? ''}</span>
    </>
  );
}

function Status({ log }: { log: TrafficLogView }) {
  // A node may accept a connection whose target it cannot reach; its protocol has no way to say so.
  if (log.status === 'ok' && log.download === 0 && log.upload > 0) {
    return (
      <Badge tone="fair" title={t('trafficLog.noReplyHint')}>
        {t('trafficLog.noReply')}
      </Badge>
    );
  }
  const status = t(`trafficLog.statuses.${log.status}`);
  return (
    <Badge tone={TONES[log.status]} title={log.error_message ?? undefined}>
      {log.http_status === null ? status : `${status} ${log.http_status}`}
    </Badge>
  );
}
