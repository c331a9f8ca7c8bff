import type { AuditLogView } from '@gatehouse/contracts';
import { FlaggedName } from '../components/flag.js';
import { Badge } from '../components/page.js';
import { Table, type Column } from '../components/table.js';
import { formatTime } from '../format/times.js';
import { t } from '../messages/index.js';

interface AuditTableProps {
  rows: readonly AuditLogView[] | undefined;
  onOpen: (row: AuditLogView) => void;
}

export function AuditTable({ rows, onOpen }: AuditTableProps) {
  const columns: Column<AuditLogView>[] = [
    { head: t('common.time'), cell: ({ created_at }) => formatTime(created_at) },
    { head: t('audit.actor'), cell: (row) => whoOf(row) },
    {
      head: t('audit.action'),
      grow: true,
      cell: (row) => (
        <>
          <button type="button" class="link" onClick={() => onOpen(row)}>
            <code>{row.action}</code>
          </button>
          <span class="second">
            <FlaggedName name={[row.resource_name ?? row.resource_id, row.error].filter(Boolean).join(' · ')} />
          </span>
        </>
      ),
    },
    { head: t('audit.changes'), right: true, cell: ({ changes }) => changes.length || '' },
    {
      head: t('common.status'),
      cell: ({ success, status }) => (
        <Badge tone={success ? 'good' : 'bad'}>
          {status ?? (success ? t('audit.statusOk') : t('audit.statusFailed'))}
        </Badge>
      ),
    },
    { head: t('audit.ip'), cell: ({ ip }) => ip ?? '–' },
  ];
  return (
    <Table
      caption={t('audit.title')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      empty={t('common.nothingFound')}
    />
  );
}

export function whoOf({ actor: { type, id, name, user } }: AuditLogView): string {
  if (id === null) return name ?? type;
  const kind = type === 'session' ? t('audit.user') : type;
  return `${name ?? type} (${user === null ? `${kind} ${id}` : t('audit.actorOf', { kind, id, user })})`;
}
