import type { TunnelClientView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { Badge } from '../../shared/components/page.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import type { CursorWindow } from '../../shared/state/use-cursor-window.js';
import { t } from '../messages/index.js';
import { Flow } from '../parts/flow.js';
import { quotaText, UsedUp } from '../parts/quota-fields.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { stateOf } from './client-state.js';

interface ClientTableProps {
  list: CursorWindow<TunnelClientView>;
  empty: ComponentChildren;
  onOpen: (client: TunnelClientView) => void;
}

export function ClientTable({ list, empty, onOpen }: ClientTableProps) {
  return (
    <VirtualTable
      caption={t('nav.clients')}
      columns={columnsFor(list.reload, onOpen)}
      rows={list.rows}
      onEnd={list.onEnd}
      onView={list.onView}
      card={(client) => <ClientCard client={client} reload={list.reload} onOpen={onOpen} />}
      cardHeight={110}
      rowKey={({ id }) => id}
      rowClass={({ status }) => (status === 1 ? '' : 'faint')}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

function columnsFor(reload: () => void, onOpen: (client: TunnelClientView) => void): VirtualColumn<TunnelClientView>[] {
  return [
    {
      id: 'enabled',
      head: t('common.enabled'),
      quietHead: true,
      width: 60,
      cell: (client) => <ClientSwitch client={client} reload={reload} />,
    },
    { id: 'state', head: t('words.state'), width: 100, cell: (client) => <ClientState client={client} /> },
    {
      id: 'name',
      head: t('common.name'),
      sort: 'name',
      width: 200,
      grow: 2,
      cell: (client) => (
        <>
          <NameButton client={client} onOpen={onOpen} />
          <span class="second">{agentOf(client)}</span>
        </>
      ),
    },
    { id: 'limits', head: t('words.limits'), width: 200, grow: 1, cell: (client) => <Limits client={client} /> },
    {
      id: 'expires',
      head: t('common.expires'),
      sort: 'expire_at',
      width: 100,
      cell: (client) => <Expiry client={client} />,
    },
    {
      id: 'inlet',
      width: 116,
      head: t('words.fromVisitors'),
      sort: 'inlet_flow',
      right: true,
      cell: (client) => formatBytes(client.inlet_flow),
    },
    {
      id: 'outlet',
      width: 116,
      head: t('words.toVisitors'),
      sort: 'export_flow',
      right: true,
      cell: (client) => formatBytes(client.export_flow),
    },
  ];
}

interface ClientProps {
  client: TunnelClientView;
  reload: () => void;
  onOpen: (client: TunnelClientView) => void;
}

function ClientSwitch({ client: { id, name, status }, reload }: Omit<ClientProps, 'onOpen'>) {
  return (
    <StatusSwitch path={`/clients/${id}`} label={t('words.enabledName', { name })} value={status} reload={reload} />
  );
}

function NameButton({ client, onOpen }: Omit<ClientProps, 'reload'>) {
  return (
    <button type="button" class="link" title={client.name} onClick={() => onOpen(client)}>
      {client.name}
    </button>
  );
}

function agentOf({ agent }: TunnelClientView): string {
  return agent ? `${agent.address} · ${agent.software}` : ' ';
}

/** A client on a phone. */
function ClientCard({ client, reload, onOpen }: ClientProps) {
  return (
    <>
      <div class="line">
        <NameButton client={client} onOpen={onOpen} />
        <ClientState client={client} />
      </div>
      <span class="second">{agentOf(client)}</span>
      <div class="line">
        <span>
          <Flow inlet={client.inlet_flow} outlet={client.export_flow} />
        </span>
        <ClientSwitch client={client} reload={reload} />
      </div>
    </>
  );
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
    client.traffic_quota > 0 ? quotaText(client) : '',
  ].filter((part) => part !== '');
  if (parts.length === 0) return <span class="muted">{t('words.unlimited')}</span>;
  return (
    <>
      {parts.join(', ')} <UsedUp view={client} />
    </>
  );
}

function Expiry({ client: { expire_at: until, expired } }: { client: TunnelClientView }) {
  if (until === null) return <span class="muted">{t('common.never')}</span>;
  return (
    <span class={expired ? 'problem' : ''} title={formatTime(until)}>
      {formatRelative(until)}
    </span>
  );
}
