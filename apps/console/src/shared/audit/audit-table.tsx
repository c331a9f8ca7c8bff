import type { AuditLogView } from '@gatehouse/contracts';
import { Badge } from '../components/page.js';
import { Table, type Column } from '../components/table.js';
import { formatTime } from '../format/times.js';

interface AuditTableProps {
  rows: readonly AuditLogView[] | undefined;
  onOpen: (row: AuditLogView) => void;
}

export function AuditTable({ rows, onOpen }: AuditTableProps) {
  const columns: Column<AuditLogView>[] = [
    { head: 'Time', cell: ({ created_at }) => formatTime(created_at) },
    { head: 'Who', cell: (row) => whoOf(row) },
    {
      head: 'Action',
      grow: true,
      cell: (row) => (
        <>
          <button type="button" class="link" onClick={() => onOpen(row)}>
            {row.action}
          </button>
          <span class="second">{[row.resource_name ?? row.resource_id, row.error].filter(Boolean).join(' · ')}</span>
        </>
      ),
    },
    { head: 'Changes', right: true, cell: ({ changes }) => changes.length || '' },
    {
      head: 'Status',
      cell: ({ success, status }) => (
        <Badge tone={success ? 'good' : 'bad'}>{status ?? (success ? 'ok' : 'failed')}</Badge>
      ),
    },
    { head: 'From', cell: ({ ip }) => ip ?? '–' },
  ];
  return <Table caption="Audit log" columns={columns} rows={rows} rowKey={({ id }) => id} empty="Nothing was found." />;
}

export function whoOf({ actor: { type, id, name, user } }: AuditLogView): string {
  const kind = type === 'session' ? 'user' : type;
  return `${name ?? type}${id === null ? '' : ` (${kind} ${id}${user === null ? '' : ` of ${user}`})`}`;
}
