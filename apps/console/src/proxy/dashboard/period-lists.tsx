import type { PeriodDomain, PeriodNode, PeriodUser } from '@gatehouse/contracts';
import { NodeName } from '../../shared/components/node-name.js';
import type { Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatPercent } from '../../shared/format/amounts.js';
import { formatDuration, formatRelative } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import { ListCard } from './list-card.js';
import type { ListProps } from './pages.js';
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

export function PeriodDomains({ page, turn }: ListProps<PeriodDomain>) {
  return (
    <ListCard
      title={t('dashboard.domainsPeriod')}
      list="period_domain"
      page={page}
      columns={DOMAINS}
      rowKey={(row) => row.domain}
      empty={t('dashboard.nothingEnded')}
      turn={turn}
    />
  );
}

export function PeriodNodes({ page, turn }: ListProps<PeriodNode>) {
  return (
    <ListCard
      title={t('dashboard.nodesPeriod')}
      list="period_node"
      page={page}
      columns={NODES}
      rowKey={(row) => `${row.node_id} ${row.name}`}
      empty={t('dashboard.nothingEnded')}
      turn={turn}
    />
  );
}

export function PeriodUsers({ page, turn }: ListProps<PeriodUser>) {
  return (
    <ListCard
      title={t('dashboard.usersPeriod')}
      list="period_user"
      page={page}
      columns={USERS}
      rowKey={(row) => row.user}
      empty={t('dashboard.nothingEnded')}
      turn={turn}
    />
  );
}
