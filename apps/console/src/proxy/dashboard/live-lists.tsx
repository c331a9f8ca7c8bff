import type { LiveDomain, LiveNode, LiveUser } from '@gatehouse/contracts';
import { NodeName } from '../../shared/components/node-name.js';
import type { Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { t } from '../messages/index.js';
import { ListCard } from './list-card.js';
import type { ListProps } from './pages.js';
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

export function LiveDomains({ page, turn }: ListProps<LiveDomain>) {
  return (
    <ListCard
      title={t('dashboard.domainsNow')}
      list="live_domain"
      page={page}
      columns={DOMAINS}
      rowKey={(row) => row.domain}
      empty={t('words.nothingOpen')}
      turn={turn}
    />
  );
}

export function LiveNodes({ page, turn }: ListProps<LiveNode>) {
  return (
    <ListCard
      title={t('dashboard.nodesNow')}
      list="live_node"
      page={page}
      columns={NODES}
      rowKey={(row) => `${row.node_id} ${row.name}`}
      empty={t('words.nothingOpen')}
      turn={turn}
    />
  );
}

export function LiveUsers({ page, turn }: ListProps<LiveUser>) {
  return (
    <ListCard
      title={t('dashboard.usersNow')}
      list="live_user"
      page={page}
      columns={USERS}
      rowKey={(row) => row.user}
      empty={t('words.nothingOpen')}
      turn={turn}
    />
  );
}
