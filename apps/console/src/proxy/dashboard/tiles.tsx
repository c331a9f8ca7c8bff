import type { DashboardResponse } from '@gatehouse/contracts';
import { Tile } from '../../shared/components/tile.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { formatDuration } from '../../shared/format/times.js';

/** The figures that people look at first. */
export function Tiles({ data }: { data: DashboardResponse }) {
  const { traffic, connections, nodes, subscriptions, rules, kernel } = data;
  const troubles = [
    subscriptions.failing > 0 ? `${subscriptions.failing} failing` : '',
    subscriptions.expiring_soon > 0 ? `${subscriptions.expiring_soon} expiring soon` : '',
  ].filter((text) => text !== '');
  return (
    <dl class="tiles">
      <Tile
        name="Download"
        value={formatRate(traffic.download_speed)}
        note={`${formatBytes(traffic.download_total)} in all`}
      />
      <Tile
        name="Upload"
        value={formatRate(traffic.upload_speed)}
        note={`${formatBytes(traffic.upload_total)} in all`}
      />
      <Tile
        name="Connections"
        value={formatCount(connections.active)}
        note={`${formatCount(connections.opened_total)} since the start, ${formatCount(connections.failed_total)} failed`}
      />
      <Tile
        name="Nodes"
        value={`${formatCount(nodes.alive)} / ${formatCount(nodes.total)}`}
        note={`answer; ${formatCount(nodes.dead)} do not, ${formatCount(nodes.untested)} not tested`}
      />
      <Tile
        name="Subscriptions"
        value={formatCount(subscriptions.total)}
        note={troubles.length > 0 ? troubles.join(', ') : `${subscriptions.enabled} enabled`}
      />
      <Tile
        name="Rules"
        value={formatCount(rules.total)}
        note={`${formatCount(rules.manual)} manual, ${formatCount(rules.hits)} hits`}
      />
      <Tile
        name="Kernel"
        value={kernel.state}
        note={`${formatBytes(kernel.memory_bytes)}, up ${formatDuration(kernel.uptime_sec === null ? null : kernel.uptime_sec * 1000)}`}
      />
    </dl>
  );
}
