import type { TunnelDashboard } from '@gatehouse/contracts';
import { Tile } from '../../shared/components/tile.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { hrefTo } from '../../shared/state/route.js';

/** The figures that people look at first. */
export function Tiles({ data: { live, totals } }: { data: TunnelDashboard }) {
  const { clients, tunnels, hosts } = totals;
  return (
    <dl class="tiles">
      <Tile
        name="To visitors"
        value={formatRate(live.export_bytes_per_second)}
        note={`${formatBytes(totals.export_bytes)} in all`}
      />
      <Tile
        name="From visitors"
        value={formatRate(live.inlet_bytes_per_second)}
        note={`${formatBytes(totals.inlet_bytes)} in all`}
      />
      <Tile
        name="Connections"
        value={formatCount(live.connections)}
        note={`${live.new_connections_per_second.toFixed(1)} new a second`}
      />
      <Tile
        name="Agents online"
        value={<a href={hrefTo('clients')}>{`${formatCount(clients.online)} / ${formatCount(clients.enabled)}`}</a>}
        note={`${formatCount(clients.total)} clients`}
      />
      <Tile
        name="Tunnels running"
        value={<a href={hrefTo('tunnels')}>{`${formatCount(tunnels.running)} / ${formatCount(tunnels.total)}`}</a>}
        note={noteOf(tunnels)}
      />
      <Tile
        name="Hosts"
        value={<a href={hrefTo('hosts')}>{formatCount(hosts.enabled)}</a>}
        note={`of ${formatCount(hosts.total)} served`}
      />
      {totals.users !== null && (
        <Tile name="Users" value={<a href={hrefTo('users')}>{formatCount(totals.users)}</a>} note="of this console" />
      )}
    </dl>
  );
}

function noteOf({ waiting, failed, stopped }: TunnelDashboard['totals']['tunnels']): string {
  const parts = [
    failed > 0 ? `${formatCount(failed)} failed` : '',
    waiting > 0 ? `${formatCount(waiting)} waiting` : '',
    stopped > 0 ? `${formatCount(stopped)} stopped` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'none waits' : parts.join(', ');
}
