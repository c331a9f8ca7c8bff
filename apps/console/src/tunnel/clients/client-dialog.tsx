import type { TunnelClientView, TunnelConnectionList, TunnelConnectionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Facts, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { PublishLink } from '../parts/publish-link.js';
import { useResourceNames, type NameOf } from '../parts/resource-names.js';
import { useMayWrite } from '../user-context.js';
import { ClientActions, type ClientAction } from './client-actions.js';
import { ClientState, Limits } from './client-table.js';

interface ClientDialogProps {
  id: number;
  name: string;
  onClose: () => void;
  onAction: (action: ClientAction, client: TunnelClientView) => void;
}

/** One client as it is right now: its agent, its visitors, and what can be done. */
export function ClientDialog({ id, name, onClose, onAction }: ClientDialogProps) {
  const api = useApi();
  const mayWrite = useMayWrite();
  const { data: client, error } = useResource(
    (signal) => api.get<TunnelClientView>(`/clients/${id}`, {}, signal),
    [id],
    { everyMs: 2_000 },
  );
  return (
    <Dialog title={name} onClose={onClose} wide>
      <Trouble error={error} waits={client === undefined} />
      {client && (
        <>
          <ClientFacts client={client} />
          <p class="actions">
            {mayWrite && <PublishLink clientId={String(id)} />}
            <a href={hrefTo('tunnels', { client_id: id })}>{t('clients.itsTunnels')}</a>
            <a href={hrefTo('hosts', { client_id: id })}>{t('clients.itsHosts')}</a>
            <a href={hrefTo('events', { resource_type: 'client', resource_id: id })}>{t('nav.events')}</a>
            <a href={hrefTo('traffic', { resource_type: 'client', resource_id: id })}>{t('clients.itsTraffic')}</a>
          </p>
          {mayWrite && <ClientActions client={client} onAction={onAction} />}
          <Connections client={client} />
        </>
      )}
    </Dialog>
  );
}

function ClientFacts({ client }: { client: TunnelClientView }) {
  const { agent } = client;
  return (
    <Facts
      facts={[
        [t('words.state'), <ClientState key="state" client={client} />],
        [t('clients.agent'), agent ? `${agent.address}, ${agent.software}` : t('clients.notConnected')],
        [t('clients.edge'), edgesOf(client)],
        [t('clients.connected'), agent ? formatRelative(agent.connected_at) : null],
        [
          t('clients.roundTrip'),
          agent?.round_trip_ms == null ? null : t('time.milliseconds', { count: agent.round_trip_ms.toFixed(1) }),
        ],
        [t('clients.oldKey'), oldKeyOf(client)],
        [t('words.limits'), <Limits key="limits" client={client} />],
        [t('common.expires'), client.expire_at === null ? t('common.never') : formatTime(client.expire_at)],
        [t('words.fromVisitors'), formatBytes(client.inlet_flow)],
        [t('words.toVisitors'), formatBytes(client.export_flow)],
      ]}
    />
  );
}

/** Null: there is only one edge, or none is known. */
function edgesOf({ agents }: TunnelClientView): string | null {
  const names = new Set(agents.flatMap(({ edge }) => edge ?? []));
  return names.size === 0 ? null : [...names].join(', ');
}

function oldKeyOf({ agent, previous_key_until: until }: TunnelClientView): string | null {
  if (until === null) return null;
  const time = formatTime(until);
  return agent?.uses_previous_key ? t('clients.oldKeyUsed', { time }) : t('clients.oldKeyUntil', { time });
}

const columnsFor = (nameOf: NameOf, showEdge: boolean): Column<TunnelConnectionView>[] => [
  {
    head: t('clients.visitor'),
    cell: ({ visitor_ip, visitor_port }) => <code>{`${visitor_ip} · ${visitor_port}`}</code>,
  },
  {
    head: t('clients.through'),
    grow: true,
    cell: ({ resource_type, resource_id }) => nameOf(resource_type, resource_id),
  },
  {
    head: t('clients.since'),
    cell: ({ started_at }) => <span title={formatTime(started_at)}>{formatRelative(started_at)}</span>,
  },
  ...(showEdge ? [{ head: t('clients.edge'), cell: ({ edge }: TunnelConnectionView) => edge ?? '–' }] : []),
  { head: t('clients.fromVisitor'), right: true, cell: ({ inlet_bytes }) => formatBytes(inlet_bytes) },
  { head: t('clients.toVisitor'), right: true, cell: ({ export_bytes }) => formatBytes(export_bytes) },
];

function Connections({ client }: { client: TunnelClientView }) {
  const api = useApi();
  const { data, error } = useResource(
    (signal) => api.get<TunnelConnectionList>(`/clients/${client.id}/connections`, { limit: 100 }, signal),
    [client.id],
    { everyMs: 2_000 },
  );
  const nameOf = useResourceNames(data?.items.map((row) => ({ kind: row.resource_type, id: row.resource_id })) ?? []);
  const hidden = (data?.total ?? 0) - (data?.items.length ?? 0);
  return (
    <section>
      <h3>{data ? t('clients.visitorsCount', { count: data.total }) : t('clients.visitors')}</h3>
      <Trouble error={error} />
      <Table
        caption={t('clients.visitors')}
        columns={columnsFor(nameOf, new Set(data?.items.map(({ edge }) => edge)).size > 1)}
        rows={data?.items}
        rowKey={(row) => `${row.resource_type} ${row.resource_id} ${row.visitor_ip} ${row.visitor_port}`}
        empty={t('clients.noVisitors')}
      />
      {data && data.silent_edges.length > 0 && (
        <p class="problem">{t('clients.silentEdges', { names: data.silent_edges.join(', ') })}</p>
      )}
      {hidden > 0 && <p class="muted">{t('words.more', { count: hidden })}</p>}
    </section>
  );
}
