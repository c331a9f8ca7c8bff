import type { RequestIpView } from '@gatehouse/contracts';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Card, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import type { Counted } from './traffic-choice.js';

const COLUMNS: Column<RequestIpView>[] = [
  { head: t('words.ipAddress'), sort: 'ip', grow: true, cell: ({ ip }) => <code>{ip}</code> },
  { head: t('words.connectionsRequests'), sort: 'hits', right: true, cell: ({ hit_count: hits }) => formatCount(hits) },
  {
    head: t('words.lastSeen'),
    sort: 'last_seen',
    cell: ({ last_seen_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
  },
];

/** Where visitors came from. */
export function VisitorAddresses({ counted }: { counted: Counted }) {
  const list = useCursorList<RequestIpView>('/request-ips', { ...counted }, { sort: '-hits' });
  return (
    <Card title={t('traffic.visitors')}>
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('traffic.visitors')}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty={t('traffic.noVisitors')}
      />
      <CursorPager label={t('traffic.visitors')} order="any" note={t('traffic.kept')} {...list.pager} />
    </Card>
  );
}
