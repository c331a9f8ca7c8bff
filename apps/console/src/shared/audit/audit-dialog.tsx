import type { AuditChange, AuditLogView } from '@gatehouse/contracts';
import { Dialog } from '../components/dialog.js';
import { Facts } from '../components/page.js';
import { Table, type Column } from '../components/table.js';
import { formatDuration, formatTime } from '../format/times.js';
import { whoOf } from './audit-table.js';

const COLUMNS: readonly Column<AuditChange>[] = [
  { head: 'Field', cell: ({ field }) => <code>{field}</code> },
  { head: 'Before', cell: ({ before }) => <code class="log-line">{String(before ?? '–')}</code> },
  { head: 'After', grow: true, cell: ({ after }) => <code class="log-line">{String(after ?? '–')}</code> },
];

export function AuditDialog({ row, onClose }: { row: AuditLogView; onClose: () => void }) {
  return (
    <Dialog title={row.action} onClose={onClose} wide>
      <Facts
        facts={[
          ['Time', `${formatTime(row.created_at)}, ${formatDuration(row.duration_ms)}`],
          ['Who', `${whoOf(row)} from ${row.ip ?? '–'}`],
          ['With', row.user_agent],
          ['Request', row.method === null ? null : `${row.method} ${row.path ?? ''}`],
          ['What', [row.resource_type, row.resource_id, row.resource_name].filter(Boolean).join(' ') || null],
          ['Outcome', `${row.status ?? ''} ${row.error ?? ''}`],
          ['Request id', row.request_id],
          ['Hash', <code key="hash">{row.hash}</code>],
        ]}
      />
      {row.changes.length > 0 && (
        <Table caption="Changes" columns={COLUMNS} rows={row.changes} rowKey={({ field }) => field} empty="" />
      )}
    </Dialog>
  );
}
