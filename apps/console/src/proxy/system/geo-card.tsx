import type { GeoDatabaseView, GeoStatus, GeoUpdateResult } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Card, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';

const TONES: Record<GeoDatabaseView['status'], BadgeTone> = {
  ok: 'good',
  stale: 'fair',
  missing: 'none',
  error: 'bad',
};

const COLUMNS: readonly Column<GeoDatabaseView>[] = [
  { head: 'Name', cell: ({ name }) => <strong>{name}</strong> },
  {
    head: 'Status',
    cell: ({ status, error }) => (
      <Badge tone={TONES[status]} title={error ?? undefined}>
        {status}
      </Badge>
    ),
  },
  {
    head: 'What it is',
    grow: true,
    cell: (row) => <span title={row.source_url ?? ''}>{row.database_type ?? row.error ?? '–'}</span>,
  },
  { head: 'Built', cell: ({ build_time }) => formatTime(build_time) },
  { head: 'Entries', right: true, cell: ({ entries }) => formatCount(entries) },
  { head: 'Size', right: true, cell: ({ size_bytes }) => formatBytes(size_bytes) },
  { head: 'Looked for newer', cell: ({ checked_at }) => formatRelative(checked_at) },
];

/** The databases of countries, networks and sites. */
export function GeoCard() {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const { data, error, reload } = useResource((signal) => api.get<GeoStatus>('/system/geo', {}, signal), [], {
    everyMs: 10_000,
  });
  const update = async (): Promise<void> => {
    await run(async () => {
      const { updated, not_modified: same, failed } = await api.post<GeoUpdateResult>('/system/geo/update', {});
      const failures = failed.map(({ name, error: why }) => `${name}: ${why}`).join(' ');
      notify(`${updated.length} updated, ${same.length} as before. ${failures}`, failed.length > 0 ? 'bad' : 'good');
    });
    reload();
  };
  const isUpdating = busy || data?.updating === true;
  return (
    <Card
      title="Geo databases"
      actions={
        <button type="button" disabled={isUpdating} onClick={() => void update()}>
          {isUpdating ? 'Updating …' : 'Update now'}
        </button>
      }
    >
      <Trouble error={error} retry={reload} />
      {data && (
        <p class="muted">
          {data.auto_update
            ? `Updated automatically every ${data.interval_hours} hours, next ${formatRelative(data.next_update_at)}.`
            : 'Not updated automatically.'}
        </p>
      )}
      <Table caption="Geo databases" columns={COLUMNS} rows={data?.databases} rowKey={({ name }) => name} empty="" />
    </Card>
  );
}
