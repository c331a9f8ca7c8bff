import type { RequestIpView } from '@gatehouse/contracts';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Card, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import type { Counted } from './traffic-choice.js';

const COLUMNS: Column<RequestIpView>[] = [
  { head: 'Address', sort: 'ip', grow: true, cell: ({ ip }) => <code>{ip}</code> },
  { head: 'Connections and requests', sort: 'hits', right: true, cell: ({ hit_count: hits }) => formatCount(hits) },
  {
    head: 'Last',
    sort: 'last_seen',
    cell: ({ last_seen_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
  },
];

/** Where visitors came from. */
export function VisitorAddresses({ counted }: { counted: Counted }) {
  const list = useCursorList<RequestIpView>('/request-ips', { ...counted }, { sort: '-hits' });
  return (
    <Card title="Addresses of visitors">
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption="Addresses of visitors"
        columns={COLUMNS}
        rows={list.rows}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty="No visitors yet."
      />
      <CursorPager label="addresses" order="any" note="The newest 10,000 are kept" {...list.pager} />
    </Card>
  );
}
