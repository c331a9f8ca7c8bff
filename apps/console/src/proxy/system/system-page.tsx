import type { KernelState, SystemStatus } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Card, Facts, Page, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatDuration, formatRelative, formatTime } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
import { GeoCard } from './geo-card.js';
import { KernelLists } from './kernel-lists.js';
import { ReloadButton } from './reload-button.js';

const KERNEL_TONES: Record<KernelState, BadgeTone> = {
  running: 'good',
  starting: 'fair',
  reloading: 'fair',
  degraded: 'bad',
  stopped: 'bad',
};

export function SystemPage() {
  const api = useApi();
  const { data, error, reload } = useResource((signal) => api.get<SystemStatus>('/system/status', {}, signal), [], {
    everyMs: 3_000,
  });
  return (
    <Page title="System" actions={<ReloadButton onDone={reload} />}>
      <Trouble error={error} retry={reload} />
      {data && (
        <>
          <div class="columns">
            <KernelCard status={data} />
            <ServiceCard status={data} />
          </div>
          <KernelLists kernel={data.kernel} />
        </>
      )}
      <GeoCard />
    </Page>
  );
}

function KernelCard({ status: { kernel, connections } }: { status: SystemStatus }) {
  return (
    <Card title="Kernel" actions={<Badge tone={KERNEL_TONES[kernel.state]}>{kernel.state}</Badge>}>
      <Facts
        facts={[
          ['Kind', `${kernel.type} ${kernel.version}`],
          ['Up for', formatDuration(kernel.uptime_sec === null ? null : kernel.uptime_sec * 1000)],
          ['Started again', `${kernel.restarts} times`],
          ['Connections', formatCount(connections)],
          ['Memory', formatBytes(kernel.rss_bytes)],
          ['Configuration', `generation ${kernel.generation}`],
          ['Last reload', `${formatRelative(kernel.last_reload_at)}, ${formatDuration(kernel.last_reload_ms)}`],
          ['Last error', kernel.last_error],
        ]}
      />
    </Card>
  );
}

function ServiceCard({ status }: { status: SystemStatus }) {
  const { database, queue, memory, cpu } = status;
  const isWell = database.ok && queue.ok;
  return (
    <Card title="Service" actions={<Badge tone={isWell ? 'good' : 'bad'}>{isWell ? 'well' : 'in trouble'}</Badge>}>
      <Facts
        facts={[
          [
            'Version',
            `${status.version}${status.commit === null ? '' : ` (${status.commit.slice(0, 10)})`}, Node ${status.node_version}`,
          ],
          [
            'Up for',
            <span key="up" title={formatTime(status.started_at)}>
              {formatDuration(status.uptime_sec * 1000)}
            </span>,
          ],
          ['Machine', `${status.hostname}, ${status.os} ${status.arch}`],
          ['Processor', `${cpu.percent.toFixed(1)} % of ${cpu.cores} cores, load ${cpu.load1.toFixed(2)}`],
          ['Memory', `${formatBytes(memory.rss_bytes)} of ${formatBytes(memory.total_bytes)}`],
          ['Free disk', formatBytes(status.disk.free_bytes)],
          ['Database', database.ok ? `${database.version ?? ''}, ${database.latency_ms ?? '–'} ms` : 'does not answer'],
          [
            'Queue',
            queue.ok
              ? `${queue.active ?? 0} running, ${queue.waiting ?? 0} waiting, ${queue.failed ?? 0} failed`
              : 'does not answer',
          ],
        ]}
      />
    </Card>
  );
}
