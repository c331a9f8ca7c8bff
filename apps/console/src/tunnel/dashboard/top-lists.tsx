import type { TopResource, TopVisitor } from '@gatehouse/contracts';
import { Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';

function columnsFor(kind: 'tunnel' | 'host'): Column<TopResource>[] {
  return [
    {
      head: t(`kinds.${kind}`),
      grow: true,
      cell: ({ id, name }) => <a href={hrefTo('traffic', { resource_type: kind, resource_id: id })}>{name}</a>,
    },
    { head: t('words.fromVisitors'), right: true, cell: ({ inlet_bytes }) => formatBytes(inlet_bytes) },
    { head: t('words.toVisitors'), right: true, cell: ({ export_bytes }) => formatBytes(export_bytes) },
    {
      head: kind === 'tunnel' ? t('words.connections') : t('words.requests'),
      right: true,
      cell: (row) => formatCount(row.connections),
    },
  ];
}

const TUNNELS = columnsFor('tunnel');
const HOSTS = columnsFor('host');

export function TopTunnels({ rows }: { rows: readonly TopResource[] }) {
  return (
    <Card title={t('dashboard.topTunnels')}>
      <Table
        caption={t('dashboard.topTunnels')}
        columns={TUNNELS}
        rows={rows}
        rowKey={({ id }) => id}
        empty={t('dashboard.noTunnelTraffic')}
      />
    </Card>
  );
}

export function TopHosts({ rows }: { rows: readonly TopResource[] }) {
  return (
    <Card title={t('dashboard.topHosts')}>
      <Table
        caption={t('dashboard.topHosts')}
        columns={HOSTS}
        rows={rows}
        rowKey={({ id }) => id}
        empty={t('dashboard.noHostTraffic')}
      />
    </Card>
  );
}

const VISITORS: Column<TopVisitor>[] = [
  { head: t('words.ipAddress'), grow: true, cell: ({ ip }) => <code>{ip}</code> },
  { head: t('words.connectionsRequests'), right: true, cell: ({ hit_count: hits }) => formatCount(hits) },
  {
    head: t('words.lastSeen'),
    cell: ({ last_seen_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
  },
];

export function TopVisitors({ rows }: { rows: readonly TopVisitor[] }) {
  return (
    <Card title={t('dashboard.topVisitors')}>
      <Table
        caption={t('dashboard.topVisitors')}
        columns={VISITORS}
        rows={rows}
        rowKey={({ ip }) => ip}
        empty={t('dashboard.noVisitors')}
      />
    </Card>
  );
}
