import type { ConnectionsClosedResponse, ConnectionView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

interface ConnectionTableProps {
  rows: readonly ConnectionView[] | undefined;
  sort: string;
  onSort: (sort: string) => void;
  reload: () => void;
}

export function ConnectionTable({ rows, sort, onSort, reload }: ConnectionTableProps) {
  const columns: Column<ConnectionView>[] = [
    { head: t('words.host'), sort: 'host', grow: true, cell: (connection) => <Target connection={connection} /> },
    { head: t('connections.source'), cell: (connection) => <Source connection={connection} /> },
    { head: t('words.rule'), cell: (connection) => <Rule connection={connection} /> },
    {
      head: t('connections.downSpeed'),
      sort: 'download_speed',
      right: true,
      cell: (row) => formatRate(row.download_speed),
    },
    { head: t('connections.upSpeed'), sort: 'upload_speed', right: true, cell: (row) => formatRate(row.upload_speed) },
    { head: t('connections.received'), sort: 'download', right: true, cell: (row) => formatBytes(row.download) },
    { head: t('connections.sent'), sort: 'upload', right: true, cell: (row) => formatBytes(row.upload) },
    {
      head: t('connections.age'),
      sort: 'duration_ms',
      right: true,
      cell: (row) => <span title={formatTime(row.start)}>{formatDuration(row.duration_ms)}</span>,
    },
    { head: t('connections.close'), quietHead: true, cell: (row) => <CloseOne connection={row} reload={reload} /> },
  ];
  return (
    <Table
      caption={t('nav.connections')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      sort={sort}
      onSort={onSort}
      empty={t('words.nothingOpen')}
    />
  );
}

function hostOf({ host, sniff_host: sniffed, destination_ip: ip }: ConnectionView): string {
  return host ?? sniffed ?? ip ?? '?';
}

function Target({ connection }: { connection: ConnectionView }) {
  const { chains, network, state, destination_port: port } = connection;
  return (
    <>
      <strong title={connection.remote_destination ?? ''}>{`${hostOf(connection)}:${port}`}</strong>
      <span class="second">{`${network}${state === 'open' ? '' : `, ${state}`} · ${chains.join(' → ')}`}</span>
    </>
  );
}

function Source({ connection }: { connection: ConnectionView }) {
  const { source_ip: ip, source_port: port, type, inbound_name: inbound, inbound_user: user } = connection;
  return (
    <>
      {`${ip}:${port}`}
      <span class="second">{[type, inbound, user].filter(Boolean).join(', ')}</span>
    </>
  );
}

function Rule({ connection: { rule, rule_payload: payload } }: { connection: ConnectionView }) {
  return (
    <>
      {rule ?? t('connections.defaultRule')}
      <span class="second">{payload ?? ''}</span>
    </>
  );
}

function CloseOne({ connection, reload }: { connection: ConnectionView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const close = async (): Promise<void> => {
    await run(() => api.delete<ConnectionsClosedResponse>(`/connections/${segment(connection.id)}`));
    reload();
  };
  return (
    <button
      type="button"
      class="small"
      disabled={busy}
      aria-label={t('connections.closeOne', { host: hostOf(connection) })}
      onClick={() => void close()}
    >
      {t('connections.close')}
    </button>
  );
}
