import type { TunnelDashboard } from '@gatehouse/contracts';
import { Tile } from '../../shared/components/tile.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';

/** The figures that people look at first. */
export function Tiles({ data: { live, totals } }: { data: TunnelDashboard }) {
  const { clients, tunnels, hosts } = totals;
  return (
    <dl class="tiles">
      <Tile
        name={t('words.toVisitors')}
        value={formatRate(live.export_bytes_per_second)}
        note={t('dashboard.inTotal', { bytes: formatBytes(totals.export_bytes) })}
      />
      <Tile
        name={t('words.fromVisitors')}
        value={formatRate(live.inlet_bytes_per_second)}
        note={t('dashboard.inTotal', { bytes: formatBytes(totals.inlet_bytes) })}
      />
      <Tile
        name={t('words.connections')}
        value={formatCount(live.connections)}
        note={t('dashboard.perSecond', { count: live.new_connections_per_second.toFixed(1) })}
      />
      <Tile
        name={t('dashboard.agents')}
        value={<a href={hrefTo('clients')}>{`${formatCount(clients.online)} / ${formatCount(clients.enabled)}`}</a>}
        note={t('dashboard.clientCount', { count: clients.total })}
      />
      <Tile
        name={t('dashboard.tunnels')}
        value={<a href={hrefTo('tunnels')}>{`${formatCount(tunnels.running)} / ${formatCount(tunnels.total)}`}</a>}
        note={noteOf(tunnels)}
      />
      <Tile
        name={t('nav.hosts')}
        value={<a href={hrefTo('hosts')}>{formatCount(hosts.enabled)}</a>}
        note={t('dashboard.hostsOf', { count: hosts.total })}
      />
      {totals.users !== null && (
        <Tile
          name={t('nav.users')}
          value={<a href={hrefTo('users')}>{formatCount(totals.users)}</a>}
          note={t('dashboard.usersOf')}
        />
      )}
    </dl>
  );
}

function noteOf({ waiting, failed, stopped }: TunnelDashboard['totals']['tunnels']): string {
  const parts = [
    failed > 0 ? t('dashboard.failed', { count: failed }) : '',
    waiting > 0 ? t('dashboard.waiting', { count: waiting }) : '',
    stopped > 0 ? t('dashboard.stopped', { count: stopped }) : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? t('dashboard.allRunning') : parts.join(', ');
}
