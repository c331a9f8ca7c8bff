import type { TunnelClientView, TunnelConnectionList, TunnelConnectionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Facts, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { hrefTo } from '../../shared/state/route.js';
import { useResource } from '../../shared/state/use-resource.js';
import { useResourceNames, type NameOf } from '../parts/resource-names.js';
import { useMayWrite } from '../user-context.js';
import { ClientActions, type ClientDeed } from './client-actions.js';
import { ClientState, Limits } from './client-table.js';

interface ClientDialogProps {
  id: number;
  name: string;
  onClose: () => void;
  onDeed: (deed: ClientDeed, client: TunnelClientView) => void;
}

/** One client as it is right now: its agent, its visitors, and what can be done. */
export function ClientDialog({ id, name, onClose, onDeed }: ClientDialogProps) {
  const api = useApi();
  const mayWrite = useMayWrite();
  const { data: client, error } = useResource(
    (signal) => api.get<TunnelClientView>(`/clients/${id}`, {}, signal),
    [id],
    { everyMs: 2_000 },
  );
  return (
    <Dialog title={name} onClose={onClose} wide>
      <Trouble error={error} />
      {client && (
        <>
          <ClientFacts client={client} />
          <p class="actions">
            <a href={hrefTo('tunnels', { client_id: id })}>Its tunnels</a>
            <a href={hrefTo('hosts', { client_id: id })}>Its hosts</a>
            <a href={hrefTo('traffic', { resource_type: 'client', resource_id: id })}>Its traffic</a>
          </p>
          {mayWrite && <ClientActions client={client} onDeed={onDeed} />}
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
        ['State', <ClientState key="state" client={client} />],
        ['Agent', agent ? `${agent.address}, ${agent.software}` : 'not connected'],
        ['Connected', agent ? formatRelative(agent.connected_at) : null],
        ['Round trip', agent?.round_trip_ms == null ? null : `${agent.round_trip_ms.toFixed(1)} ms`],
        ['Old key', oldKeyOf(client)],
        ['Limits', <Limits key="limits" client={client} />],
        ['Until', client.expire_at === null ? 'for good' : formatTime(client.expire_at)],
        ['From visitors', formatBytes(client.inlet_flow)],
        ['To visitors', formatBytes(client.export_flow)],
      ]}
    />
  );
}

function oldKeyOf({ agent, previous_key_until: until }: TunnelClientView): string | null {
  if (until === null) return null;
  return agent?.uses_previous_key ? `the agent uses it until ${formatTime(until)}` : `works until ${formatTime(until)}`;
}

const columnsFor = (nameOf: NameOf): Column<TunnelConnectionView>[] => [
  { head: 'Visitor', cell: ({ visitor_ip, visitor_port }) => <code>{`${visitor_ip} · ${visitor_port}`}</code> },
  { head: 'Through', grow: true, cell: ({ resource_type, resource_id }) => nameOf(resource_type, resource_id) },
  { head: 'Since', cell: ({ started_at }) => <span title={formatTime(started_at)}>{formatRelative(started_at)}</span> },
  { head: 'From visitor', right: true, cell: ({ inlet_bytes }) => formatBytes(inlet_bytes) },
  { head: 'To visitor', right: true, cell: ({ export_bytes }) => formatBytes(export_bytes) },
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
      <h3>Connected visitors{data && ` (${formatCount(data.total)})`}</h3>
      <Trouble error={error} />
      <Table
        caption="Connected visitors"
        columns={columnsFor(nameOf)}
        rows={data?.items}
        rowKey={(row) => `${row.resource_type} ${row.resource_id} ${row.visitor_ip} ${row.visitor_port}`}
        empty="No visitor is connected."
      />
      {hidden > 0 && <p class="muted">{formatCount(hidden)} more are not listed.</p>}
    </section>
  );
}
