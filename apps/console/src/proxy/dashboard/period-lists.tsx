import type { DashboardPage, PeriodDomain, PeriodNode } from '@gatehouse/contracts';
import { NodeName } from '../../shared/components/node-name.js';
import { Card } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatPercent } from '../../shared/format/amounts.js';
import { formatRelative } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import type { Turn } from './pages.js';

const DOMAINS: readonly Column<PeriodDomain>[] = [
  {
    head: 'Domain',
    cell: (row) => (
      <a href={hrefTo('traffic', { keyword: row.domain })} title={row.domain}>
        {row.domain}
      </a>
    ),
    grow: true,
  },
  { head: 'Requests', cell: (row) => formatCount(row.requests), right: true },
  { head: 'Errors', cell: (row) => formatCount(row.errors), right: true },
  { head: 'Bytes', cell: (row) => formatBytes(row.download + row.upload), right: true },
  { head: 'Seen', cell: (row) => formatRelative(row.last_seen_at), right: true },
];

const NODES: readonly Column<PeriodNode>[] = [
  { head: 'Node', cell: (row) => <NodeName node={row} />, grow: true },
  { head: 'Requests', cell: (row) => formatCount(row.requests), right: true },
  { head: 'Success', cell: (row) => formatPercent(row.success_rate), right: true },
  {
    head: 'Delay',
    cell: (row) => (row.avg_delay_ms === null ? '–' : `${Math.round(row.avg_delay_ms)} ms`),
    right: true,
  },
  { head: 'Bytes', cell: (row) => formatBytes(row.download + row.upload), right: true },
];

export function PeriodDomains({ page, turn }: { page: DashboardPage<PeriodDomain>; turn: Turn }) {
  return (
    <Card title="Domains of the period">
      <Table
        caption="Domains of the period"
        columns={DOMAINS}
        rows={page.items}
        rowKey={(row) => row.domain}
        empty="Nothing ended in this period."
      />
      <Pager
        label="domains of the period"
        {...page}
        onChange={({ limit, offset }) => turn({ period_domain_limit: limit, period_domain_offset: offset })}
      />
    </Card>
  );
}

export function PeriodNodes({ page, turn }: { page: DashboardPage<PeriodNode>; turn: Turn }) {
  return (
    <Card title="Nodes of the period">
      <Table
        caption="Nodes of the period"
        columns={NODES}
        rows={page.items}
        rowKey={(row) => `${row.node_id} ${row.name}`}
        empty="Nothing was carried in this period."
      />
      <Pager
        label="nodes of the period"
        {...page}
        onChange={({ limit, offset }) => turn({ period_node_limit: limit, period_node_offset: offset })}
      />
    </Card>
  );
}
