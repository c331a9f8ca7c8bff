import type { FlowStatView } from '@gatehouse/contracts';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import { useNamedRows, type NameOf } from '../parts/resource-names.js';

const KINDS = [
  { value: 'client', label: t('traffic.kinds.client') },
  { value: 'tunnel', label: t('traffic.kinds.tunnel') },
  { value: 'host', label: t('traffic.kinds.host') },
  { value: 'user', label: t('traffic.kinds.user') },
  { value: '', label: t('traffic.kinds.all') },
];

/** Who carried how much, ever. */
export function FlowTotals({ query }: PageProps) {
  const [{ kind }, change] = useAddressFilter(query, { kind: 'client' });
  const list = useCursorList<FlowStatView>('/flow-stats', { resource_type: kind }, { sort: '-export_bytes' });
  const { rows, nameOf } = useNamedRows(list.rows, (row) => ({ kind: row.resource_type, id: row.resource_id }));
  return (
    <>
      <div class="filters" role="search" aria-label={t('traffic.filterTotals')}>
        <SelectField
          label={t('traffic.resource')}
          hideLabel
          value={kind}
          choices={KINDS}
          onChange={(next) => change({ kind: next })}
        />
      </div>
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('traffic.totals')}
        columns={columnsFor(nameOf)}
        rows={rows}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty={t('traffic.empty')}
      />
      <CursorPager label={t('traffic.totals')} order="any" note="" {...list.pager} />
    </>
  );
}

function columnsFor(nameOf: NameOf): Column<FlowStatView>[] {
  return [
    { head: t('traffic.name'), grow: true, cell: (row) => <Whose row={row} nameOf={nameOf} /> },
    { head: t('words.kind'), cell: ({ resource_type: kind }) => t(`kinds.${kind}`) },
    {
      head: t('words.fromVisitors'),
      sort: 'inlet_bytes',
      right: true,
      cell: ({ inlet_bytes }) => formatBytes(inlet_bytes),
    },
    {
      head: t('words.toVisitors'),
      sort: 'export_bytes',
      right: true,
      cell: ({ export_bytes }) => formatBytes(export_bytes),
    },
    {
      head: t('words.lastSeen'),
      sort: 'updated_at',
      cell: ({ updated_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
    },
  ];
}

function Whose({ row: { resource_type: kind, resource_id: id }, nameOf }: { row: FlowStatView; nameOf: NameOf }) {
  if (kind === 'global') return <strong>{t('traffic.everything')}</strong>;
  if (kind === 'user') return <>{nameOf(kind, id)}</>;
  return <a href={hrefTo('traffic', { resource_type: kind, resource_id: id })}>{nameOf(kind, id)}</a>;
}
