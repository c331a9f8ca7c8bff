import type { AuditChange, AuditLogView } from '@gatehouse/contracts';
import { Dialog } from '../components/dialog.js';
import { Facts } from '../components/page.js';
import { Table, type Column } from '../components/table.js';
import { formatDuration, formatTime } from '../format/times.js';
import { whoOf } from './audit-table.js';
import { t } from '../messages/index.js';

const COLUMNS: readonly Column<AuditChange>[] = [
  { head: t('audit.field'), grow: true, cell: ({ field }) => <code>{field}</code> },
  { head: t('audit.before'), cell: ({ before }) => <code class="log-line">{String(before ?? '–')}</code> },
  { head: t('audit.after'), cell: ({ after }) => <code class="log-line">{String(after ?? '–')}</code> },
];

export function AuditDialog({ row, onClose }: { row: AuditLogView; onClose: () => void }) {
  return (
    <Dialog title={t('audit.entryTitle', { id: row.id })} onClose={onClose} wide>
      <Facts
        facts={[
          [t('audit.action'), <code key="action">{row.action}</code>],
          [t('common.time'), `${formatTime(row.created_at)}, ${formatDuration(row.duration_ms)}`],
          [t('audit.actor'), t('audit.from', { actor: whoOf(row), ip: row.ip ?? '–' })],
          [t('audit.userAgent'), row.user_agent],
          [t('audit.request'), row.method === null ? null : `${row.method} ${row.path ?? ''}`],
          [
            t('audit.resource'),
            [row.resource_type, row.resource_id, row.resource_name].filter(Boolean).join(' ') || null,
          ],
          [t('audit.outcome'), `${row.status ?? ''} ${row.error ?? ''}`],
          [t('audit.requestId'), row.request_id],
          [t('audit.hash'), <code key="hash">{row.hash}</code>],
        ]}
      />
      {row.changes.length > 0 && (
        <Table
          caption={t('audit.changes')}
          columns={COLUMNS}
          rows={row.changes}
          rowKey={({ field }) => field}
          empty=""
        />
      )}
    </Dialog>
  );
}
