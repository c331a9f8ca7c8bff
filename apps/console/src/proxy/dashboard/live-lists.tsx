import type { DashboardPage, LiveDomain, LiveNode, LiveUser } from '@gatehouse/contracts';
import { NodeName } from '../../shared/components/node-name.js';
import { Card } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { t } from '../messages/index.js';
import type { Turn } from './pages.js';
import { UserLink } from './user-link.js';

type Live = Pick<LiveDomain, 'connections' | 'download' | 'upload' | 'download_speed' | 'upload_speed'>;

const FIGURES: readonly Column<Live>[] = [
  { head: t('words.connections'), cell: (row) => formatCount(row.connections), right: true },
  { head: t('words.download'), cell: (row) => formatRate(row.download_speed), right: true },
  { head: t('words.upload'), cell: (row) => formatRate(row.upload_speed), right: true },
  { head: t('words.bytes'), cell: (row) => formatBytes(row.download + row.upload), right: true },
];

const DOMAINS: readonly Column<LiveDomain>[] = [
  { head: t('dashboard.domain'), cell: (row) => <span title={row.domain}>{row.domain}</span>, grow: true },
  ...FIGURES,
];

const NODES: readonly Column<LiveNode>[] = [
  { head: t('words.node'), cell: (row) => <NodeName node={row} />, grow: true },
  ...FIGURES,
];

const USERS: readonly Column<LiveUser>[] = [
  { head: t('dashboard.user'), cell: (row) => <UserLink user={row.user} />, grow: true },
  ...FIGURES,
];

export function LiveDomains({ page, turn }: { page: DashboardPage<LiveDomain>; turn: Turn }) {
  return (
    <Card title={t('dashboard.domainsNow')}>
      <Table
        caption={t('dashboard.domainsNow')}
        columns={DOMAINS}
        rows={page.items}
        rowKey={(row) => row.domain}
        empty={t('words.nothingOpen')}
      />
      <Pager
        label={t('dashboard.domainsNow')}
        {...page}
        onChange={({ limit, offset }) => turn({ live_domain_limit: limit, live_domain_offset: offset })}
      />
    </Card>
  );
}

export function LiveNodes({ page, turn }: { page: DashboardPage<LiveNode>; turn: Turn }) {
  return (
    <Card title={t('dashboard.nodesNow')}>
      <Table
        caption={t('dashboard.nodesNow')}
        columns={NODES}
        rows={page.items}
        rowKey={(row) => `${row.node_id} ${row.name}`}
        empty={t('words.nothingOpen')}
      />
      <Pager
        label={t('dashboard.nodesNow')}
        {...page}
        onChange={({ limit, offset }) => turn({ live_node_limit: limit, live_node_offset: offset })}
      />
    </Card>
  );
}

export function LiveUsers({ page, turn }: { page: DashboardPage<LiveUser>; turn: Turn }) {
  return (
    <Card title={t('dashboard.usersNow')}>
      <Table
        caption={t('dashboard.usersNow')}
        columns={USERS}
        rows={page.items}
        rowKey={(row) => row.user}
        empty={t('words.nothingOpen')}
      />
      <Pager
        label={t('dashboard.usersNow')}
        {...page}
        onChange={({ limit, offset }) => turn({ live_user_limit: limit, live_user_offset: offset })}
      />
    </Card>
  );
}
