import type { TunnelClientView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { Badge } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import type { CursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { stateOf } from './client-state.js';

interface ClientTableProps {
  list: CursorList<TunnelClientView>;
  empty: ComponentChildren;
  onOpen: (client: TunnelClientView) => void;
}

export function ClientTable({ list, empty, onOpen }: ClientTableProps) {
  return (
    <Table
      caption={t('nav.clients')}
      columns={columnsFor(list.reload, onOpen)}
      rows={list.rows}
      rowKey={({ id }) => id}
      rowClass={({ status }) => (status === 1 ? '' : 'faint')}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

function columnsFor(reload: () => void, onOpen: (client: TunnelClientView) => void): Column<TunnelClientView>[] {
  return [
    {
      head: t('common.enabled'),
      quietHead: true,
      cell: ({ id, name, status }) => (
        <StatusSwitch path={`/clients/${id}`} label={t('words.enabledName', { name })} value={status} reload={reload} />
      ),
    },
    { head: t('words.state'), cell: (client) => <ClientState client={client} /> },
    {
      head: t('common.name'),
      sort: 'name',
      grow: true,
      cell: (client) => (
        <>
          <button type="button" class="link" onClick={() => onOpen(client)}>
            {client.name}
          </button>
          <span class="second">{client.agent ? `${client.agent.address} · ${client.agent.software}` : ' '}</span>
        </>
      ),
    },
    { head: t('words.limits'), cell: (client) => <Limits client={client} /> },
    { head: t('common.expires'), sort: 'expire_at', cell: (client) => <Expiry client={client} /> },
    {
      head: t('words.fromVisitors'),
      sort: 'inlet_flow',
      right: true,
      cell: (client) => formatBytes(client.inlet_flow),
    },
    {
      head: t('words.toVisitors'),
      sort: 'export_flow',
      right: true,
      cell: (client) => formatBytes(client.export_flow),
    },
  ];
}

export function ClientState({ client }: { client: TunnelClientView }) {
  const { tone, text, title } = stateOf(client);
  return (
    <Badge tone={tone} title={title}>
      {text}
    </Badge>
  );
}

export function Limits({ client }: { client: TunnelClientView }) {
  const parts = [
    client.rate_limit > 0 ? formatRate(client.rate_limit_bytes_per_second) : '',
    client.max_conn > 0 ? t('clients.maxConnections', { count: client.max_conn }) : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? <span class="muted">{t('words.unlimited')}</span> : <>{parts.join(', ')}</>;
}

function Expiry({ client: { expire_at: until, expired } }: { client: TunnelClientView }) {
  if (until === null) return <span class="muted">{t('common.never')}</span>;
  return (
    <span class={expired ? 'problem' : ''} title={formatTime(until)}>
      {formatRelative(until)}
    </span>
  );
}
