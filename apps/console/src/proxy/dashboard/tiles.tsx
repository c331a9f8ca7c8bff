import type { DashboardResponse } from '@gatehouse/contracts';
import { Tile } from '../../shared/components/tile.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { formatDuration } from '../../shared/format/times.js';
import { t } from '../messages/index.js';

/** The figures that people look at first. */
export function Tiles({ data }: { data: DashboardResponse }) {
  const { traffic, connections, nodes, subscriptions, rules, kernel } = data;
  const troubles = [
    subscriptions.failing > 0 ? t('dashboard.failing', { count: subscriptions.failing }) : '',
    subscriptions.expiring_soon > 0 ? t('dashboard.expiring', { count: subscriptions.expiring_soon }) : '',
  ].filter((text) => text !== '');
  return (
    <dl class="tiles">
      <Tile
        name={t('words.download')}
        value={formatRate(traffic.download_speed)}
        note={t('dashboard.total', { bytes: formatBytes(traffic.download_total) })}
      />
      <Tile
        name={t('words.upload')}
        value={formatRate(traffic.upload_speed)}
        note={t('dashboard.total', { bytes: formatBytes(traffic.upload_total) })}
      />
      <Tile
        name={t('nav.connections')}
        value={formatCount(connections.active)}
        note={t('dashboard.opened', { opened: connections.opened_total, failed: connections.failed_total })}
      />
      <Tile
        name={t('nav.nodes')}
        value={`${formatCount(nodes.alive)} / ${formatCount(nodes.total)}`}
        note={t('dashboard.alive', { dead: nodes.dead, untested: nodes.untested })}
      />
      <Tile
        name={t('nav.subscriptions')}
        value={formatCount(subscriptions.total)}
        note={troubles.length > 0 ? troubles.join(', ') : t('dashboard.enabled', { count: subscriptions.enabled })}
      />
      <Tile
        name={t('nav.rules')}
        value={formatCount(rules.total)}
        note={t('dashboard.manual', { manual: rules.manual, hits: rules.hits })}
      />
      <Tile
        name={t('dashboard.kernel')}
        value={t(`kernelStates.${kernel.state}`)}
        note={t('dashboard.kernelNote', {
          memory: formatBytes(kernel.memory_bytes),
          uptime: formatDuration(kernel.uptime_sec === null ? null : kernel.uptime_sec * 1000),
        })}
      />
    </dl>
  );
}
