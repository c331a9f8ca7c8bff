import type { TopResource, TopVisitor } from '@gatehouse/contracts';
import { Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';

function columnsFor(kind: 'tunnel' | 'host'): Column<TopResource>[] {
  return [
    {
      head: kind === 'tunnel' ? 'Tunnel' : 'Host',
      grow: true,
      cell: ({ id, name }) => <a href={hrefTo('traffic', { resource_type: kind, resource_id: id })}>{name}</a>,
    },
    { head: 'From visitors', right: true, cell: ({ inlet_bytes }) => formatBytes(inlet_bytes) },
    { head: 'To visitors', right: true, cell: ({ export_bytes }) => formatBytes(export_bytes) },
    { head: kind === 'tunnel' ? 'Connections' : 'Requests', right: true, cell: (row) => formatCount(row.connections) },
  ];
}

const TUNNELS = columnsFor('tunnel');
const HOSTS = columnsFor('host');

export function TopTunnels({ rows }: { rows: readonly TopResource[] }) {
  return (
    <Card title="Busiest tunnels of the last day">
      <Table
        caption="Busiest tunnels"
        columns={TUNNELS}
        rows={rows}
        rowKey={({ id }) => id}
        empty="No tunnel carried anything."
      />
    </Card>
  );
}

export function TopHosts({ rows }: { rows: readonly TopResource[] }) {
  return (
    <Card title="Busiest hosts of the last day">
      <Table
        caption="Busiest hosts"
        columns={HOSTS}
        rows={rows}
        rowKey={({ id }) => id}
        empty="No host carried anything."
      />
    </Card>
  );
}

const VISITORS: Column<TopVisitor>[] = [
  { head: 'Address', grow: true, cell: ({ ip }) => <code>{ip}</code> },
  { head: 'Connections and requests', right: true, cell: ({ hit_count: hits }) => formatCount(hits) },
  { head: 'Last', cell: ({ last_seen_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span> },
];

export function TopVisitors({ rows }: { rows: readonly TopVisitor[] }) {
  return (
    <Card title="Most frequent visitors">
      <Table
        caption="Most frequent visitors"
        columns={VISITORS}
        rows={rows}
        rowKey={({ ip }) => ip}
        empty="No visitors yet."
      />
    </Card>
  );
}
