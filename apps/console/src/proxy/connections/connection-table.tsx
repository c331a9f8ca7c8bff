import type { ConnectionsClosedResponse, ConnectionView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { formatDuration, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';

interface ConnectionTableProps {
  rows: readonly ConnectionView[] | undefined;
  sort: string;
  onSort: (sort: string) => void;
  reload: () => void;
}

export function ConnectionTable({ rows, sort, onSort, reload }: ConnectionTableProps) {
  const columns: Column<ConnectionView>[] = [
    { head: 'Host', sort: 'host', grow: true, cell: (connection) => <Target connection={connection} /> },
    { head: 'From', cell: (connection) => <Source connection={connection} /> },
    { head: 'Rule', cell: (connection) => <Rule connection={connection} /> },
    { head: 'Down', sort: 'download_speed', right: true, cell: (row) => formatRate(row.download_speed) },
    { head: 'Up', sort: 'upload_speed', right: true, cell: (row) => formatRate(row.upload_speed) },
    { head: 'Received', sort: 'download', right: true, cell: (row) => formatBytes(row.download) },
    { head: 'Sent', sort: 'upload', right: true, cell: (row) => formatBytes(row.upload) },
    {
      head: 'Age',
      sort: 'duration_ms',
      right: true,
      cell: (row) => <span title={formatTime(row.start)}>{formatDuration(row.duration_ms)}</span>,
    },
    { head: 'Close', quietHead: true, cell: (row) => <CloseOne connection={row} reload={reload} /> },
  ];
  return (
    <Table
      caption="Connections"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      sort={sort}
      onSort={onSort}
      empty="Nothing is open."
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
      {rule ?? 'default'}
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
      aria-label={`Close the connection to ${hostOf(connection)}`}
      onClick={() => void close()}
    >
      Close
    </button>
  );
}
