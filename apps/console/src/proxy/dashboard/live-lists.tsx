import type { DashboardPage, LiveDomain, LiveNode } from '@gatehouse/contracts';
import { NodeName } from '../../shared/components/node-name.js';
import { Card } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import type { Turn } from './pages.js';

type Live = Pick<LiveDomain, 'connections' | 'download' | 'upload' | 'download_speed' | 'upload_speed'>;

const FIGURES: readonly Column<Live>[] = [
  { head: 'Open', cell: (row) => formatCount(row.connections), right: true },
  { head: 'Down', cell: (row) => formatRate(row.download_speed), right: true },
  { head: 'Up', cell: (row) => formatRate(row.upload_speed), right: true },
  { head: 'Bytes', cell: (row) => formatBytes(row.download + row.upload), right: true },
];

const DOMAINS: readonly Column<LiveDomain>[] = [
  { head: 'Domain', cell: (row) => <span title={row.domain}>{row.domain}</span>, grow: true },
  ...FIGURES,
];

const NODES: readonly Column<LiveNode>[] = [
  { head: 'Node', cell: (row) => <NodeName node={row} />, grow: true },
  ...FIGURES,
];

export function LiveDomains({ page, turn }: { page: DashboardPage<LiveDomain>; turn: Turn }) {
  return (
    <Card title="Domains now">
      <Table
        caption="Domains now"
        columns={DOMAINS}
        rows={page.items}
        rowKey={(row) => row.domain}
        empty="Nothing is open."
      />
      <Pager
        label="domains"
        {...page}
        onChange={({ limit, offset }) => turn({ live_domain_limit: limit, live_domain_offset: offset })}
      />
    </Card>
  );
}

export function LiveNodes({ page, turn }: { page: DashboardPage<LiveNode>; turn: Turn }) {
  return (
    <Card title="Nodes now">
      <Table
        caption="Nodes now"
        columns={NODES}
        rows={page.items}
        rowKey={(row) => `${row.node_id} ${row.name}`}
        empty="Nothing is open."
      />
      <Pager
        label="nodes"
        {...page}
        onChange={({ limit, offset }) => turn({ live_node_limit: limit, live_node_offset: offset })}
      />
    </Card>
  );
}
