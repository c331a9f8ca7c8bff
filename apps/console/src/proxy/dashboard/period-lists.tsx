import type { DashboardPage, PeriodDomain, PeriodNode, PeriodUser } from '@gatehouse/contracts';
import { NodeName } from '../../shared/components/node-name.js';
import { Card } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatPercent } from '../../shared/format/amounts.js';
import { formatDuration, formatRelative } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import type { Turn } from './pages.js';
import { UserLink } from './user-link.js';

const DOMAINS: readonly Column<PeriodDomain>[] = [
  {
    head: t('dashboard.domain'),
    cell: (row) => (
      <a href={hrefTo('traffic', { keyword: row.domain })} title={row.domain}>
        {row.domain}
      </a>
    ),
    grow: true,
  },
  { head: t('dashboard.requests'), cell: (row) => formatCount(row.requests), right: true },
  { head: t('dashboard.errors'), cell: (row) => formatCount(row.errors), right: true },
  { head: t('words.bytes'), cell: (row) => formatBytes(row.download + row.upload), right: true },
  { head: t('dashboard.lastSeen'), cell: (row) => formatRelative(row.last_seen_at), right: true },
];

const NODES: readonly Column<PeriodNode>[] = [
  { head: t('words.node'), cell: (row) => <NodeName node={row} />, grow: true },
  { head: t('dashboard.requests'), cell: (row) => formatCount(row.requests), right: true },
  { head: t('dashboard.success'), cell: (row) => formatPercent(row.success_rate), right: true },
  {
    head: t('words.delay'),
    cell: (row) => (row.avg_delay_ms === null ? '–' : formatDuration(row.avg_delay_ms)),
    right: true,
  },
  { head: t('words.bytes'), cell: (row) => formatBytes(row.download + row.upload), right: true },
];

const USERS: readonly Column<PeriodUser>[] = [
  { head: t('dashboard.user'), cell: (row) => <UserLink user={row.user} />, grow: true },
  { head: t('dashboard.requests'), cell: (row) => formatCount(row.requests), right: true },
  { head: t('dashboard.errors'), cell: (row) => formatCount(row.errors), right: true },
  { head: t('words.bytes'), cell: (row) => formatBytes(row.download + row.upload), right: true },
  { head: t('dashboard.lastSeen'), cell: (row) => formatRelative(row.last_seen_at), right: true },
];

export function PeriodDomains({ page, turn }: { page: DashboardPage<PeriodDomain>; turn: Turn }) {
  return (
    <Card title={t('dashboard.domainsPeriod')}>
      <Table
        caption={t('dashboard.domainsPeriod')}
        columns={DOMAINS}
        rows={page.items}
        rowKey={(row) => row.domain}
        empty={t('dashboard.nothingEnded')}
      />
      <Pager
        label={t('dashboard.domainsPeriod')}
        {...page}
        onChange={({ limit, offset }) => turn({ period_domain_limit: limit, period_domain_offset: offset })}
      />
    </Card>
  );
}

export function PeriodNodes({ page, turn }: { page: DashboardPage<PeriodNode>; turn: Turn }) {
  return (
    <Card title={t('dashboard.nodesPeriod')}>
      <Table
        caption={t('dashboard.nodesPeriod')}
        columns={NODES}
        rows={page.items}
        rowKey={(row) => `${row.node_id} ${row.name}`}
        empty={t('dashboard.nothingEnded')}
      />
      <Pager
        label={t('dashboard.nodesPeriod')}
        {...page}
        onChange={({ limit, offset }) => turn({ period_node_limit: limit, period_node_offset: offset })}
      />
    </Card>
  );
}

export function PeriodUsers({ page, turn }: { page: DashboardPage<PeriodUser>; turn: Turn }) {
  return (
    <Card title={t('dashboard.usersPeriod')}>
      <Table
        caption={t('dashboard.usersPeriod')}
        columns={USERS}
        rows={page.items}
        rowKey={(row) => row.user}
        empty={t('dashboard.nothingEnded')}
      />
      <Pager
        label={t('dashboard.usersPeriod')}
        {...page}
        onChange={({ limit, offset }) => turn({ period_user_limit: limit, period_user_offset: offset })}
      />
    </Card>
  );
}
