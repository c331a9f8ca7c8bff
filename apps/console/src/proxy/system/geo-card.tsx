import type { GeoDatabaseName, GeoDatabaseView, GeoStatus, GeoUpdateResult } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Card, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';

const TONES: Record<GeoDatabaseView['status'], BadgeTone> = {
  ok: 'good',
  stale: 'fair',
  missing: 'none',
  error: 'bad',
};

const NAMES: Readonly<Record<GeoDatabaseName, string>> = {
  country: t('settings.geo_country_url.label'),
  asn: t('settings.geo_asn_url.label'),
  geosite: t('settings.geo_geosite_url.label'),
  geoip: t('settings.geo_geoip_url.label'),
};

const COLUMNS: readonly Column<GeoDatabaseView>[] = [
  { head: t('common.name'), grow: true, cell: ({ name }) => <strong>{NAMES[name]}</strong> },
  {
    head: t('common.status'),
    cell: ({ status, error }) => (
      <Badge tone={TONES[status]} title={error ?? undefined}>
        {t(`system.geoStatuses.${status}`)}
      </Badge>
    ),
  },
  {
    head: t('system.geoType'),
    cell: ({ database_type: type, error, source_url: url }) => (
      <span class="clipped" title={type === null ? (error ?? '') : (url ?? '')}>
        {type ?? error ?? '–'}
      </span>
    ),
  },
  { head: t('system.built'), cell: ({ build_time }) => formatTime(build_time) },
  { head: t('words.entries'), right: true, cell: ({ entries }) => formatCount(entries) },
  { head: t('words.size'), right: true, cell: ({ size_bytes }) => formatBytes(size_bytes) },
  { head: t('system.checked'), cell: ({ checked_at }) => formatRelative(checked_at) },
];

/** The databases of countries, networks and sites. */
export function GeoCard() {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const { data, error, reload } = useResource((signal) => api.get<GeoStatus>('/system/geo', {}, signal), [], {
    everyMs: 10_000,
    areas: ['geo'],
  });
  const update = async (): Promise<void> => {
    await run(async () => {
      const { updated, not_modified: same, failed } = await api.post<GeoUpdateResult>('/system/geo/update', {});
      const failures = failed.map(({ name, error: why }) => `${NAMES[name]}: ${why}`).join(' ');
      notify(
        t('system.updated', { updated: updated.length, same: same.length, failures }),
        failed.length > 0 ? 'bad' : 'good',
      );
    });
    reload();
  };
  const isUpdating = busy || data?.updating === true;
  return (
    <Card
      title={t('system.geo')}
      actions={
        <button type="button" disabled={isUpdating} onClick={() => void update()}>
          {isUpdating ? t('system.updating') : t('system.update')}
        </button>
      }
    >
      <Trouble error={error} retry={reload} />
      {data && (
        <p class="muted">
          {data.auto_update
            ? t('system.autoUpdate', { hours: data.interval_hours, time: formatRelative(data.next_update_at) })
            : t('system.noAutoUpdate')}
        </p>
      )}
      <Table caption={t('system.geo')} columns={COLUMNS} rows={data?.databases} rowKey={({ name }) => name} empty="" />
    </Card>
  );
}
